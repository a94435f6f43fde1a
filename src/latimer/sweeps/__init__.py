"""Many runs from one command (``python train.py -m ...``): which ones, what became of them."""

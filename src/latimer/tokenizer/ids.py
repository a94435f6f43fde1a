"""The four ids that are no text: padding, an unknown piece, begin and end of a sentence."""

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3

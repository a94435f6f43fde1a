from dataclasses import replace
from pathlib import Path

from latimer.decoding import Hypothesis
from latimer.evaluation import Result
from latimer.evaluation.doubts import doubts
from latimer.evaluation.output import default_folder
from latimer.scoring import score
from latimer.translation import Translation


def result(sources, texts, references):
    def bleu(hypotheses):
        return score(hypotheses, references, target_language="en", bootstrap=0)

    return Result(
        test_set="news",
        sources=sources,
        references=references,
        translations=[Translation(text) for text in texts],
        scores=bleu(texts),
        copy_bleu=bleu(sources).bleu.score,
        seconds=1.0,
        folder=Path("news"),
        origin={},
        about={},
    )


def numbered(text, count):
    return [f"{text} number {number} stands here" for number in range(count)]


def test_a_good_result_raises_no_doubt():
    references = numbered("the red boat", 120)
    assert doubts(result(numbered("das rote Boot", 120), references, references)) == []


def test_one_sentence_for_every_input():  # field case 101
    sources, references = numbered("das rote Boot", 30), numbered("the red boat", 30)
    two = [references[number % 2] for number in range(30)]
    assert (
        "2 different translations of 30 different sources"
        in doubts(result(sources, two, references))[0]
    )
    three = [references[number % 3] for number in range(30)]
    assert doubts(result(sources, three, references)) == []


def test_bleu_of_zero_on_many_lines():  # field case 116
    texts = numbered("ganz anderes", 101)
    zero = [text.replace("number", "Nummer").replace("stands here", "da") for text in texts]
    references = ["completely unlike all of it"] * 101
    found = doubts(result(["x"] * 101, zero, references))
    assert "BLEU is exactly 0 on 101 lines" in found[0]
    few = doubts(result(["x"] * 100, zero[:100], references[:100]))
    assert not any("exactly 0" in doubt for doubt in few)


def test_no_better_than_copying():
    references = numbered("the red boat", 20)
    texts = ["the red boat number 7", *numbered("the blue", 19)]
    assert "copying the source scores 100.00" in doubts(result(references, texts, references))[-1]


def test_results_lie_in_the_run_or_beside_the_checkpoint():
    run = Path("/runs/a/2025")
    assert default_folder(run / "checkpoints" / "best.ckpt") == run / "evaluation"
    assert default_folder(Path("/models/best.ckpt")) == Path("/models/evaluation")


def test_empty_translations_are_counted():  # field case 94
    one = Hypothesis(ids=(5,), log_probability=-1.0, score=-1.0, finished=True)
    made = result(["das Boot", "", "die Tür"], ["", "", "the door"], numbered("the boat", 3))
    translations = [Translation("", (one,)), Translation(), Translation("the door", (one,))]
    counts = replace(made, translations=translations).counts()
    assert (counts["empty_translations"], counts["blank_sources"]) == (1, 1)

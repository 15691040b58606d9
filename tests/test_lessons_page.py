"""The page "Lessons" as a session sees it: every step in both languages, every question, and answers computed anew."""

import math
import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from relxl.checkpoint import open_checkpoint
from relxl.figures.larger import larger_figure
from relxl.lesson import lesson_files, read_lesson
from relxl.trace import run, split_memory
from relxl.ui.lessons.sections import OURS, known
from tests.conftest import ROOT
from tests.test_pages import open_app, text_box

PAGE = "pages/13_Lessons.py"
FILES = lesson_files(OURS)
LESSONS = {name: {lang: read_lesson(path, known()) for lang, path in files.items()} for name, files in FILES.items()}
LINKS = [name.split("-", 1)[1] for name in LESSONS]
WORDS = {"en": ("Right.", "Not this one."), "zh": ("对。", "不是这个。")}
RIGHT, WRONG = ":material/check_circle:", ":material/cancel:"


def lesson_page(**link: str) -> AppTest:
    return open_app(PAGE, **link)


def options(app: AppTest) -> dict[str, list]:
    """Give the option buttons of each question on the page."""
    found: dict[str, list] = {}
    for button in app.button:
        if str(button.key).startswith("answer_"):
            found.setdefault(button.key.rsplit("_", 1)[0], []).append(button)
    return found


def icons(app: AppTest, question: str) -> list[str]:
    return [button.proto.icon for button in options(app)[question]]


def label(button) -> str:
    return re.sub(r"^:(?:green|red)\[(.*)\]$", r"\1", button.label).replace("\\", "")


def answer(app: AppTest, question: str, place: int) -> None:
    options(app)[question][place].click()
    app.run()


def right_answer(app: AppTest, number: int = 0) -> str:
    """Answer a question of the page in any way, and give the label of what the page then calls right."""
    question = list(options(app))[number]
    answer(app, question, 0)
    return label(options(app)[question][icons(app, question).index(RIGHT)])


def healthy(app: AppTest) -> bool:
    return not app.exception and not app.error


def drawn(app: AppTest) -> int:
    pictures = len(app.get("bidi_component")) + len(app.get("plotly_chart"))
    return pictures + sum("<table" in element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("link", LINKS)
def test_every_step_is_drawn_and_every_question_can_be_answered(link, language):
    app = lesson_page(le=link, lang=language)
    (lesson,) = (lessons[language] for name, lessons in LESSONS.items() if name.endswith(link))
    asked = 0
    for step, blocks in enumerate(lesson.steps):
        assert healthy(app) and (app.query_params["ls"] == str(step))
        assert drawn(app) == 1
        for question in options(app):
            assert set(icons(app, question)) == {":material/radio_button_unchecked:"}
            answer(app, question, 0)
            right = icons(app, question).index(RIGHT)
            wrong = (right + 1) % len(icons(app, question))
            for place, word in ((wrong, WORDS[language][1]), (right, WORDS[language][0])):
                answer(app, question, place)
                assert healthy(app)
                verdict = [m.value for m in app.markdown if word in m.value]
                assert len(verdict) == 1 and re.search(r"\d", verdict[0])
                assert (WRONG in icons(app, question)) == (place == wrong)
            asked += 1
        assert len(options(app)) == sum(block.kind == "question" for block in blocks)
        if step + 1 < len(lesson.steps):
            app.button(key="lesson_way_1").click().run()
    assert asked >= 1
    assert any(button.label.startswith(("Try it yourself", "亲手试试")) for button in app.button)


@pytest.mark.parametrize("name", LESSONS)
def test_both_languages_of_a_lesson_are_one_lesson(name):
    english, chinese = LESSONS[name]["en"], LESSONS[name]["zh"]
    assert english.shape == chinese.shape and 3 <= len(english.steps) <= 5
    assert sum(block.kind == "question" for step in english.steps for block in step) >= 1
    assert [block.kind for block in english.steps[-1]][-1] == "try"
    for lesson, look in ((english, "**Look for**"), (chinese, "**请看**")):
        for step in lesson.steps:
            text = " ".join(block.text for block in step if block.kind == "text")
            words = len(text.split()) if lesson is english else len(re.findall("[一-鿿]", text))
            assert 40 <= words <= 120 and text.count(look) == 1
            assert sum(block.kind == "figure" for block in step) == 1


def test_the_lessons_are_ten_and_travel_with_the_package():
    assert len(LESSONS) == 10 and [name[:2] for name in LESSONS] == [f"{n:02}" for n in range(1, 11)]
    assert all(set(files) == {"en", "zh"} for files in FILES.values())
    assert '"lessons/*.md"' in (ROOT / "pyproject.toml").read_text()


# Answers, computed by other means ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown():
    """Give checkpoint and token ids of what the page shows at first, and how many of them are memory."""
    checkpoint = open_checkpoint(ROOT / "checkpoints/shakespeare-learned")
    ids = checkpoint.vocab.encode(text_box(open_app()).value).ids
    used, mem_len = split_memory(len(ids), 128, 128)
    return checkpoint, torch.tensor([ids[-used:]]), mem_len


def probs_by_hand(logits: np.ndarray, mem_len: int) -> np.ndarray:
    """Softmax over the keys that a query may see, in loops: [query key]."""
    probs = np.zeros(logits.shape)
    for i, row in enumerate(logits.astype(np.float64)):
        seen = row[: mem_len + i + 1]
        powers = np.exp(seen - seen.max())
        probs[i, : mem_len + i + 1] = powers / powers.sum()
    return probs


def test_the_largest_term_of_a_row(shown):
    checkpoint, tokens, mem_len = shown
    app = lesson_page(le="four-terms", ls="3", l="1", h="4")
    head = run(checkpoint.model, tokens, mem_len).terms(1).head(4)
    seen = slice(0, mem_len + 5 + 1)
    total = sum(term[5, seen].astype(np.float64) for term in head.terms.values())
    covariance = {name: float(np.cov(term[5, seen], total)[0, 1]) for name, term in head.terms.items()}
    assert right_answer(app).endswith(") " + max(covariance, key=covariance.get))


def test_the_distance_that_v_likes_best_comes_from_the_weights(shown):
    checkpoint, tokens, _mem_len = shown
    app = lesson_page(le="u-and-v", ls="2")
    head = re.search(r"L(\d)H(\d)", next(m.value for m in app.markdown if "v like best" in m.value))
    attn = checkpoint.model.layers[int(head[1])].attn
    with torch.no_grad():
        reach = checkpoint.config.max_len - 1
        curve = attn.pos_enc.pos_table @ attn.w_k_pos[int(head[2])] @ attn.v[int(head[2])]
    assert right_answer(app) == str(int(curve[reach : reach + tokens.shape[1]].argmax()))


def test_what_the_future_gets_when_the_content_is_multiplied_by_the_mask(shown):
    checkpoint, tokens, mem_len = shown
    app = lesson_page(le="masking", ls="2")
    text = next(m.value for m in app.markdown if "see the future" in m.value)
    layer, chosen = map(int, re.search(r"L(\d)H(\d)", text).groups())
    head = run(checkpoint.model, tokens, mem_len).terms(layer).head(chosen)
    row = sum(term[5].astype(np.float64) for term in head.terms.values())
    row[mem_len + 6 :] -= head.terms["content"][5, mem_len + 6 :]
    powers = np.exp(row - row.max())
    leak = powers[mem_len + 6 :].sum() / powers.sum()
    named = {"no, exactly 0": (0, 0), "yes, below 1 %": (0, 0.01), "yes, 1 to 20 %": (0.01, 0.2)}
    low, high = named.get(right_answer(app), (0.2, 1))
    assert low < leak <= high


def test_how_many_rows_a_score_matrix_reads(shown):
    _checkpoint, tokens, mem_len = shown
    assert right_answer(lesson_page(le="direction-range-clamp", ls="1")) == "14"
    q = tokens.shape[1] - mem_len
    rows = {mem_len + i - j for i in range(q) for j in range(tokens.shape[1])}
    assert right_answer(lesson_page(le="direction-range-clamp", ls="4")) == str(len(rows))


def test_which_head_looks_one_token_back(shown):
    checkpoint, tokens, mem_len = shown
    trace, mean = run(checkpoint.model, tokens, mem_len), {}
    for layer in range(checkpoint.config.n_layer):
        terms = trace.terms(layer)
        for head in range(checkpoint.config.n_head):
            probs = probs_by_hand(terms.head(head).logits, mem_len)
            mean[f"L{layer}H{head}"] = np.mean([probs[i, mem_len + i - 1] for i in range(len(probs))])
    assert right_answer(lesson_page(le="u-and-v", ls="3")) == max(mean, key=mean.get)


def cross_entropy(model, tokens, mems=None, **reading) -> float:
    with torch.no_grad():
        logits = model(tokens[:, :-1], mems, **reading).output_logits[0]
    return float(torch.nn.functional.cross_entropy(logits, tokens[0, 1:]))


def worded(before: float, after: float) -> str:
    return (
        "equal, within 0.005" if math.isclose(before, after, abs_tol=0.005) else "lower" if after < before else "higher"
    )


def test_what_becomes_of_the_loss_without_memory(shown):
    checkpoint, tokens, mem_len = shown
    segment = tokens[:, mem_len:]
    with torch.no_grad():
        mems = checkpoint.model(tokens[:, :mem_len]).hidden
    with_memory, without = (cross_entropy(checkpoint.model, segment, m) for m in (mems, None))
    app = lesson_page(le="memory", ls="3")
    assert right_answer(app) == worded(with_memory, without)
    assert any(f"{with_memory:.3f}" in m.value and f"{without:.3f}" in m.value for m in app.markdown)


def test_what_a_wall_does_to_the_loss(shown):
    checkpoint, tokens, _mem_len = shown
    before, after = (cross_entropy(checkpoint.model, tokens, clamp_len=n) for n in (None, 8))
    app = lesson_page(le="past-the-training", ls="1")
    assert right_answer(app) == worded(before, after)
    assert any(f"{before:.3f}" in m.value and f"{after:.3f}" in m.value for m in app.markdown)


def test_how_many_cells_are_wrong_when_the_memory_is_forgotten(shown):
    _checkpoint, tokens, m = shown
    n = tokens.shape[1]
    wrong = sum(i - j != m + i - j for i in range(n - m) for j in range(n) if m + i - j >= 0)
    assert right_answer(lesson_page(le="shift", ls="3")) == str(wrong)
    assert right_answer(lesson_page(le="shift", ls="3", m="0")) == "0"


def test_how_large_the_explicit_tensor_is(shown):
    d_head = shown[0].config.d_head
    assert right_answer(lesson_page(le="shift", ls="0")) == f"{512 * 512 * d_head * 4 / 1e6:.3g} MB"


def test_a_product_of_three_grows_with_the_cube():
    assert right_answer(lesson_page(le="initialisation", ls="3")) == f"{2**3}×"


# Models that lack something ------------------------------------------------------------------------------------------


def test_a_step_that_the_model_is_not_suited_for_shows_another_and_says_so():
    app = lesson_page(ck="shakespeare-absolute", le="u-and-v", ls="2")
    captions = [caption.value.replace("\\", "") for caption in app.caption]
    assert healthy(app) and drawn(app) == 1 and not options(app)
    assert any("showing shakespeare-learned" in caption for caption in captions)
    assert any(caption.startswith("This question needs") for caption in captions)
    app = lesson_page(ck="shakespeare-sinusoid", le="past-the-training", ls="0")
    assert healthy(app) and drawn(app) == 1 and not options(app)


OTHERS = ["shakespeare-absolute", "shakespeare-leaky", "txl-official", "songci-learned"]
OTHERS += [f"folder/{name}" for name in ("espnet_legacy", "xlnet_bi", "txl_learned", "article")]


@pytest.mark.parametrize("ck", OTHERS)
def test_every_lesson_goes_on_with_every_kind_of_model(ck, library):
    for link, lessons in zip(LINKS, LESSONS.values(), strict=True):
        app = lesson_page(ck=ck, le=link, m="0" if ck == "shakespeare-leaky" else "1")
        for _step in range(len(lessons["en"].steps) - 1):
            assert healthy(app) and drawn(app) >= 1
            app.button(key="lesson_way_1").click().run()
        assert healthy(app)


@pytest.mark.parametrize("text", ["a", "ab", "aaaaaaaaaaaa", "to be"])
def test_a_short_text_breaks_no_lesson(text):
    app = lesson_page()
    text_box(app).set_value(text).run()
    for link, lessons in zip(LINKS, LESSONS.values(), strict=True):
        app.selectbox(key="control_le").set_value(link).run()
        for _step in range(len(lessons["en"].steps) - 1):
            assert healthy(app), link
            app.button(key="lesson_way_1").click().run()
        assert healthy(app), link


# The way through -----------------------------------------------------------------------------------------------------


def test_next_and_back_go_over_the_border_of_a_lesson_and_stop_at_the_ends():
    app = lesson_page(le="why-relative", ls="4")
    app.button(key="lesson_way_1").click().run()
    assert (app.query_params["le"], app.query_params["ls"]) == ("four-terms", "0")
    app.button(key="lesson_way_-1").click().run()
    assert (app.query_params["le"], app.query_params["ls"]) == ("why-relative", "4")
    assert lesson_page().button(key="lesson_way_-1").disabled
    assert lesson_page(le="debug", ls="3").button(key="lesson_way_1").disabled


def test_a_link_restores_lesson_step_and_presenter_and_a_bad_one_is_reported():
    app = lesson_page(le="masking", ls="2", lp="1")
    assert healthy(app) and any("5 Masking and leakage" in m.value for m in app.markdown)
    assert not any("All lessons" in m.value for m in app.markdown)
    assert [app.button(key=f"lesson_way_{way}").proto.shortcut for way in (-1, 1)] == ["left", "right"]
    app = lesson_page(le="cooking", ls="99", lp="2")
    assert healthy(app) and len(app.toast) == 3
    assert app.button(key="lesson_way_1").proto.shortcut == ""


def test_the_dots_say_what_was_seen_and_how_it_was_answered():
    def kinds():
        (html,) = (it.proto.body for it in app.get("html") if 'class="dots"' in it.proto.body)
        return re.findall(r'<i class="([a-z ]*)">', html)

    app = lesson_page(le="why-relative", ls="3")
    assert kinds() == ["", "", "", "here seen", ""]
    question = next(iter(options(app)))
    answer(app, question, 0)
    answer(app, question, icons(app, question).index(RIGHT))
    app.button(key="lesson_way_1").click().run()
    assert kinds() == ["", "", "", "right", "here seen"]
    app.button(key="lesson_way_-1").click().run()
    assert RIGHT in icons(app, question)  # the answer is kept
    answer(app, question, (icons(app, question).index(RIGHT) + 1) % 4)
    assert kinds()[3] == "here wrong"


def test_an_answer_belongs_to_what_was_on_screen():
    app = lesson_page(le="four-terms", ls="3", l="0", h="0")
    right_answer(app)
    app.segmented_control(key="control_h").set_value(5).run()
    assert set(icons(app, next(iter(options(app))))) == {":material/radio_button_unchecked:"}


# Lessons of a teacher's own ------------------------------------------------------------------------------------------


def test_a_teachers_lessons_stand_after_ours_and_a_broken_one_is_a_sentence(monkeypatch, tmp_path):
    evil = "![x](http://elsewhere.example/t.png) <img src=http://elsewhere.example/t.png> $x$"
    (tmp_path / "walk.md").write_text(f"# My *walk* <b>\n{evil}\n```figure terms\nhead: v_bias\n```\n---\nEnd.")
    (tmp_path / "walk.zh.md").write_text("# 我的课\n看。\n---\n完。")
    (tmp_path / "broken.md").write_text("# T\n\n```figure pie\n```\n")
    monkeypatch.setenv("RELXL_LESSONS", str(tmp_path))
    app = lesson_page(le="own-walk")
    assert healthy(app) and app.selectbox(key="control_le").options[-1].startswith("11 My")
    (warning,) = (it.value.replace("\\", "") for it in app.warning)
    assert warning.startswith("broken.md, line 3: found figure 'pie', expected one of terms")
    (text,) = (m.value for m in app.markdown if "elsewhere" in m.value)
    assert "![" not in text and "<img" not in text and drawn(app) == 1
    app = lesson_page(le="own-walk", lang="zh")
    assert healthy(app) and any("看。" in m.value for m in app.markdown)
    assert app.warning[0].value.replace("\\", "").startswith("broken.md 第 3 行：读到figure 'pie'，应为")


def test_a_step_may_have_no_figure_or_several_figures_and_questions(monkeypatch, tmp_path):
    twice = "\n```figure terms\n```\n```question rows_read\n```\n```try heads\n```\n" * 2
    (tmp_path / "many.md").write_text(f"# Many\na{twice}---\nOnly words.\n```question looks_back\n```")
    monkeypatch.setenv("RELXL_LESSONS", str(tmp_path))
    app = lesson_page(le="own-many")
    assert healthy(app) and drawn(app) == 2 and len(options(app)) == 2
    for number in (0, 1):
        assert right_answer(app, number).isdecimal() and healthy(app)
    app.button(key="lesson_way_1").click().run()
    assert healthy(app) and drawn(app) == 0 and len(options(app)) == 1


def test_a_folder_that_is_not_there_has_no_lessons(monkeypatch, tmp_path):
    monkeypatch.setenv("RELXL_LESSONS", str(tmp_path / "none"))
    app = lesson_page()
    assert healthy(app) and len(app.selectbox(key="control_le").options) == 10


def test_a_figure_for_a_projector_has_larger_type_and_leaves_the_first_as_it_is():
    from relxl.figures.masking import leak_figure

    figure = leak_figure(np.array([0.1, 0.2, 0.3]), ["a", "b", "c"])
    before = figure.to_json()
    larger = larger_figure(figure, 1.5)
    assert larger.layout.font.size == 1.5 * figure.layout.font.size and larger.layout.height > figure.layout.height
    assert larger.layout.xaxis.title.font.size == 1.5 * figure.layout.xaxis.title.font.size
    np.testing.assert_array_equal(larger.data[0].y, figure.data[0].y)
    assert figure.to_json() == before

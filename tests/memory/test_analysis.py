"""Text to search tokens, in many languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.analysis import MAX_TOKEN, matched_share, memory_tokens, query_terms, search_text, tokens
from simuverse.memory.caches import let_go
from simuverse.memory.languages import LATIN, OTHER
from simuverse.memory.records import Category, Memory, Provenance, Source


def memory(
    summary: str,
    *,
    keywords: Sequence[str] = (),
    critical: str = "",
    speaker: str | None = None,
    listener: str = "James",
) -> Memory:
    time = datetime(2026, 3, 1, tzinfo=UTC)
    source = Provenance(source=Source.OBSERVED)
    if speaker is not None:
        source = Provenance(source=Source.TOLD, speaker=speaker, listener=listener)
    return Memory(
        id=UUID(int=1),
        owner="Jade",
        summary=summary,
        category=Category.OBSERVATION,
        keywords=tuple(keywords),
        critical_information=critical,
        created_at=time,
        last_accessed_at=time,
        provenance=source,
    )


def test_words_lose_case_and_endings_and_stop_words_and_keep_their_order() -> None:
    assert tokens("The red balls are rolling past the Red Fountain") == [
        "red",
        "ball",
        "roll",
        "past",
        "red",
        "fountain",
    ]


def test_underscores_and_punctuation_part_words() -> None:
    assert tokens("red_ball/blue-kite (green)") == ["red", "ball", "blue", "kite", "green"]


def test_a_possessive_is_its_owner() -> None:
    assert tokens("James's ball") == tokens("James ball") == tokens("James’s ball")


@pytest.mark.parametrize("text", ["Jade is not here", "Jade isn't here", "Jade isn’t here", "Jade wasn't there"])
def test_negation_is_kept_however_it_is_written(text: str) -> None:
    assert tokens(text) == ["jade", "not"]


@pytest.mark.parametrize("word", ["no", "not", "never", "nor", "without", "nobody", "nothing"])
def test_negative_words_are_never_stop_words(word: str) -> None:
    assert len(tokens(word)) == 1


def test_no_language_counts_a_negation_among_its_stop_words() -> None:
    for language, words in LATIN.items():
        assert not words.stop & words.telling, language
    assert not OTHER["russian"].stop & {"не", "нет", "ни", "никогда"}


@pytest.mark.parametrize("name", ["Will", "May", "Mark", "Rose"])
def test_names_that_are_also_words_are_kept(name: str) -> None:
    assert len(tokens(f"{name} is in the garden")) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.5 km", ["3.5", "km"]),
        ("3,5 km", ["3.5", "km"]),
        ("1,000 coins", ["1000", "coin"]),
        ("12,500.50 coins", ["12500.50", "coin"]),
        ("14:30", ["14:30"]),
        ("7:30pm", ["7:30", "pm"]),
        ("It cost 40.", ["cost", "40"]),
        ("18.03.2026", ["18", "03", "2026"]),
        ("2026-03-18", ["2026", "03", "18"]),
        ("1,2,3", ["1", "2", "3"]),
        ("gate b12", ["gate", "b12"]),
        ("٣ تفاحات"[:1], ["3"]),
        ("३", ["3"]),
        ("½", ["1", "2"]),
    ],
)
def test_numbers_stay_whole_and_dates_come_apart(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("accented", "plain"),
    [
        ("café", "cafe"),
        ("naïve", "naive"),
        ("José", "Jose"),
        ("André", "Andre"),
        ("Chloë", "Chloe"),
        ("résumé", "resume"),
        ("Łódź", "Lodz"),
        ("Ærø", "Aero"),
        ("Straße", "strasse"),
        ("Å", "A\u030a"),
        ("ＡＢＣ", "abc"),
        ("ﬁne", "fine"),
        ("İzmir", "izmir"),
        ("ёлка", "елка"),
        ("за́мок", "замок"),
        ("άνθρωπος", "ΑΝΘΡΩΠΟΣ"),
        ("كِتَاب", "كتاب"),
        ("كتـــاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_spellings_that_people_mix_meet(accented: str, plain: str) -> None:
    assert tokens(accented) == tokens(plain)
    assert tokens(accented)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("мой", "мои"),
        ("йод", "иод"),
        ("їжак", "іжак"),
        ("कि", "की"),
        ("गेंद", "गद"),
        ("말", "멀"),
        ("ให้", "หา"),
        ("ば", "は"),
    ],
)
def test_marks_that_make_another_letter_are_no_accents(one: str, other: str) -> None:
    assert (tokens(one) or [one]) != (tokens(other) or [other])


TWO_FORMS = [
    ("Germanic", "the balls lie here", "a ball is lying there", "ball"),
    ("Germanic", "die Bälle liegen nicht auf dem Tisch", "wo ist der Ball von mir?", "ball"),
    ("Germanic", "de ballen liggen bij de fontein", "de bal ligt niet op het gras", "bal"),
    ("Germanic", "bollarna är röda och de ligger där", "bollen ligger inte på gräset", "boll"),
    ("Germanic", "hundene løber efter den og jeg ser det", "hunden er ikke hos mig", "hund"),
    ("Germanic", "kattene ligger på gresset og dere vet hva", "katten ligger ikke her", "katt"),
    ("Romance", "les ballons rouges sont près de la fontaine", "où est le ballon rouge dans le jardin", "ballon"),
    ("Romance", "las canciones están en la mesa", "la canción es muy bonita y está en el libro", "cancion"),
    ("Romance", "as bolas vermelhas estão na mesa com você", "a bola vermelha não está no jardim", "vermelh"),
    ("Romance", "le palle rosse sono nel giardino", "la palla rossa non è nel giardino", "pall"),
    ("Romance", "les pilotes vermelles són amb els nens", "la pilota vermella no és amb el nen", "vermel"),
    ("Romance", "mingile roșii sunt în grădină și nu aici", "mingea roşie este în grădină şi nu", "ming"),
    ("Slavic", "Мячи лежат у фонтана", "Где мой красный мяч?", "мяч"),
    ("Slavic", "koty są w ogrodzie i nie śpią", "kot był w ogrodzie, ale się bał", "kot"),
    ("Slavic", "hrady jsou na kopci a nejsou pro nás", "který hrad je na kopci?", "hrad"),
    ("Uralic", "talossa on koira ja se ei ole täällä", "talosta tuli koira ja se oli iso", "talo"),
    ("Uralic", "A házban nem volt senki és hideg van", "A házak régiek és nem szépek", "haz"),
    ("Uralic", "raamatud on laual ja need ei ole minu", "raamat on laual ja see ei ole sinu", "raama"),
    ("Turkic", "kitaplar burada ve bu bir masa", "kitap nerede ve bu ne", "kitap"),
    ("Turkic", "kırmızı top İstanbul'da ve o benim", "istanbul nerede, bu ne", "istanbul"),
    ("Baltic", "namai yra prie upės ir jie mano", "namas yra prie upės ir jis mano", "nam"),
    ("Celtic", "níl na leabhair ar an mbord", "tá leabhar ar bord agus níl sé", "bord"),
    ("Semitic", "الكتابان في الحديقة", "كتاب جديد", "كتاب"),
    ("Semitic", "הכדור האדום ליד המזרקה", "איפה הַמִּזְרָקָה?", "המזרקה"),
    ("Indic", "लड़कियाँ बगीचे में हैं", "लड़की कहाँ है", "लड़क"),
    ("Dravidian", "பந்துகள் எங்கே", "பந்து இந்த வீட்டில்", "பந்"),
    ("Hellenic", "οι μπάλες είναι στο σπίτι", "πού είναι η ΜΠΑΛΑ;", "μπαλ"),
    ("Armenian", "ընկերներ են այգում", "նա իմ ընկեր է", "ընկեր"),
    ("Austronesian", "bukunya adalah untuk dia dan saya", "buku yang ini untuk kamu dan mereka", "buku"),
    ("Chinese", "红球在喷泉旁边", "喷泉在哪里", "喷泉"),
    ("Japanese", "赤いボールは噴水のそばです", "噴水はどこですか", "噴水"),
    ("Korean", "제이드가 분수 옆에 있다", "제이드는 어디에", "제이"),
    ("Thai", "ลูกบอลสีแดงอยู่ข้างน้ำพุ", "น้ำพุอยู่ที่ไหน", "น้ำ"),
    ("Lao", "ຫມາກບານສີແດງ", "ໝາກບານ", "ບາ"),
    ("Khmer", "បាល់ក្រហមនៅទីនេះ", "បាល់នៅឯណា", "បាល់"),
    ("Burmese", "ဘောလုံးနီက ဥယျာဉ်ထဲမှာ", "ဘောလုံး ဘယ်မှာလဲ", "ဘောလုံး"),
]


@pytest.mark.parametrize(("told", "asked", "token"), [row[1:] for row in TWO_FORMS], ids=[row[0] for row in TWO_FORMS])
def test_two_forms_of_a_word_give_one_token_in_every_language_family(told: str, asked: str, token: str) -> None:
    token = unicodedata.normalize("NFKC", token).replace("\u0e4d\u0e32", "\u0e33")
    assert token in tokens(told)
    assert token in tokens(asked)


def test_a_text_is_stemmed_and_stripped_by_its_own_language() -> None:
    german = tokens("Wo ist der rote Ball und die Katze von James?")
    assert german == ["rot", "ball", "katz", "jam"]
    assert "die" in tokens("We all die")


def test_one_function_word_of_another_language_does_not_sway_the_vote() -> None:
    assert tokens("die roses") == ["die", "rose"]


def test_a_query_of_bare_words_finds_a_memory_in_any_language() -> None:
    kept = memory_tokens(memory("James hat die roten Bälle nicht am Brunnen gesehen, und Jade ist bei ihm."))
    for query in ("James", "Jade Brunnen", "Bälle", "balle", "Wo ist der Ball von James?"):
        assert matched_share(query_terms(query), kept) == 1.0, query


def test_a_query_of_one_chinese_character_finds_it_inside_a_sentence() -> None:
    assert matched_share(query_terms("猫"), memory_tokens(memory("黑猫睡在沙发上"))) == 1.0


def test_an_english_memory_holds_the_tokens_of_its_text_and_nothing_else() -> None:
    text = "James left the red ball by the fountain."
    assert memory_tokens(memory(text)) == tokens(text)


def test_a_memory_is_found_by_summary_keywords_critical_information_and_speaker() -> None:
    kept = memory("It rained.", keywords=("umbrella", "wet shoes"), critical="Saturday, 40 coins", speaker="Jamal")
    assert memory_tokens(kept) == ["rain", "umbrella", "wet", "shoe", "saturday", "40", "coin", "jamal"]


def test_search_text_is_the_tokens_joined_by_single_spaces() -> None:
    kept = memory("Ella está en la fuente\tcon Jamal.\u2003", keywords=("fuente",), critical="3.5 km")
    assert search_text(kept).split(" ") == memory_tokens(kept)


def test_matched_share_counts_distinct_terms() -> None:
    assert matched_share(("ball", "ball", "red", "kite"), ["red", "ball", "ball"]) == pytest.approx(2 / 3)
    assert matched_share((), ["red"]) == 0.0
    assert matched_share(("red",), []) == 0.0


@pytest.mark.parametrize("text", ["", "   ", "the of and", "?!…", "_", "'", "\u0301", "\ud800", "\x00"])
def test_nothing_to_search_by_gives_no_tokens(text: str) -> None:
    assert tokens(text) == []


def test_what_is_longer_than_a_word_is_cut() -> None:
    assert [len(token) for token in tokens("x" * 10_000 + " ball")] == [MAX_TOKEN, 4]


def test_format_characters_inside_a_word_do_not_part_it_and_a_zero_width_space_does() -> None:
    assert tokens("ba\u200dll \ufeffkite") == ["ball", "kite"]
    assert tokens("ball\u200bkite") == ["ball", "kite"]


ANY_TEXT = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("aeéßİıñ'’_.,:09٣ йёαςاًकििงำ猫のー각\u0301\u200b\u200d\ufeff\ud800 \t\n"), max_size=60
)


@given(ANY_TEXT)
def test_any_text_gives_tokens_without_white_space_the_same_each_time(text: str) -> None:
    found = tokens(text)
    assert all(token and token == "".join(token.split()) and len(token) <= MAX_TOKEN for token in found)
    assert tokens(text) == found
    assert query_terms(text) == tuple(found)


@given(ANY_TEXT.filter(str.strip))
def test_a_memory_of_any_text_is_found_by_that_text(text: str) -> None:
    kept = memory(text)
    assert set(tokens(text)) <= set(memory_tokens(kept))
    assert search_text(kept).split() == memory_tokens(kept)


@given(
    st.text(st.sampled_from("0123456789,.: "), max_size=30) | st.text(st.sampled_from("猫黑睡のボ각หน้ "), max_size=30)
)
def test_tokens_that_no_stemmer_touches_stay_what_they_are_when_analysed_again(text: str) -> None:
    found = tokens(text)
    assert tokens(" ".join(found)) == found


@given(st.text(st.sampled_from("abcXYZ éñß"), max_size=40))
def test_case_does_not_matter(text: str) -> None:
    assert tokens(text.upper()) == tokens(text.lower())


def test_words_that_threads_stem_at_once_give_the_same_stems() -> None:
    words = [f"{stem}{end}" for stem in ("talk", "garden", "relation") for end in ("s", "ed", "ing", "er", "ers", "al")]

    def stemmed() -> list[list[str]]:
        return [tokens(word) for word in words]

    alone = stemmed()
    let_go()
    with ThreadPoolExecutor(8) as pool:
        together = [future.result() for future in [pool.submit(stemmed) for _ in range(50)]]
    assert together == [alone] * 50


@given(st.text(st.sampled_from("ab'`.,: 3-_\u00e9\u2019\n")))
def test_words_are_the_same_whether_a_text_is_plain_ascii_or_not(text: str) -> None:
    assert [*tokens(text), *tokens("\u00e9x")] == tokens(f"{text} \u00e9x")

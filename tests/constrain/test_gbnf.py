"""GBNF is read by the library once it is Lark; a full answer says what it means."""

import re

import pytest
from constrain_vocabularies import compiler, lark

from ds4.constrain.gbnf import from_gbnf
from ds4.core.errors import BadRequest


def takes(grammar: str, text: str) -> bool:
    guide = compiler("chatml").guide(lark(from_gbnf(grammar, "grammar")), "grammar")
    for byte in text.encode():
        if guide.done or not guide.allows(byte):
            return False
        guide.accept(byte)
    return guide.done or bool(guide.allowed()[list(compiler("chatml").words.ends)].any())


@pytest.mark.parametrize(
    ("grammar", "right", "wrong"),
    [
        (r'root ::= "a\u0042\x43\"\\" | "\U000000e4\n"', ['aBC"\\', "ä\n"], ["a", "aB"]),
        (r"root ::= [\u0042-\u0044a/^-] [^\]\n]", ["Bx", "/x", "^x", "-x", "a["], ["Ex", "a]"]),
        (r"root ::= . [^^] [.]", ["\nx."], ["a^.", "xxx"]),
        ('root ::= ("a" |\n "b")\n  \t"c" # "d\n\n', ["ac", "bc"], ["a", "acd"]),
        ("root ::= start root-1 root_1\nstart ::= [0-9]\nroot-1 ::= start\nroot_1 ::= fooBar\nfooBar ::= [x]",
         ["12x"], ["1x"]),
        ('root ::= "a"{2} "b"{1,} "c"{0,2} "d"{ 1 , 2 }', ["aabd", "aabbccdd"], ["abd", "aabcccd"]),
        ('root ::= x | "" \nx ::= "(" root ")"', ["", "()", "(())"], [")", "(("]),
        ('root ::= y\ny ::= "a" z\nz ::= root | "b"', ["ab", "aaab"], ["b", "aa"]),
        ('root ::= "x"\nroot ::= "y"', ["y"], ["x"]),
    ],
)  # fmt: skip
def test_it_means_the_same(grammar: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not takes(grammar, text)] == []
    assert [text for text in wrong if takes(grammar, text)] == []


@pytest.mark.parametrize(
    ("grammar", "why"),
    [
        ('a ::= "x"', "no rule 'root'"),
        ("root ::= b", "no rule 'b'"),
        ('"x" root ::= "a"', "begin with a rule"),
        ('root ::= "a"\n\nb ::= \\', "line 3"),
        ('root ::= "\\', "line 1"),
        ("root ::= [\\", "line 1"),
        ("root ::= []", "line 1"),
        ('root ::= "a\nb"', "line 1"),
        ('root ::= "\\u00"', "line 1"),
        ('root ::= "\\ud800"', "no character"),
        ('root ::= "\\U00110000"', "no character"),
        ('root ::= "a"{²}', "line 1"),
        (f'root ::= "a"{{{"9" * 5000}}}', "line 1"),
        ("::= ::=", "line 1"),
        ("", "no rule 'root'"),
    ],
)
def test_what_is_none_is_refused_by_name(grammar: str, why: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(why)) as refused:
        from_gbnf(grammar, "guided_grammar")
    assert refused.value.param == "guided_grammar"


def test_rules_without_recursion_are_terminals() -> None:
    lines = from_gbnf("root ::= a b\na ::= c c\nb ::= a b | d\nc ::= [x]\nd ::= root", "grammar").split("\n")
    assert [line.split(":")[0] for line in lines[:-1]] == ["start", "R1", "r2", "R3", "r4"]


def test_depth_is_no_fault() -> None:
    count = 3000
    rules = [f"r{n} ::= r{n + 1}" for n in range(count)]
    text = "\n".join(["root ::= " + "(" * count + "r0" + ")" * count, *rules, f'r{count} ::= "x"'])
    assert from_gbnf(text, "grammar").count("R") == 2 * count + 2

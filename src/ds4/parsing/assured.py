"""What is known of an answer before it comes, because a grammar holds the model to it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assured:
    """`sound`: the JSON in calls is JSON, so that no tag ends it inside a string.

    `wordless`: there is nothing but calls, so that the front of a tag is no text where the answer is cut.

    `formed`: there is nothing but calls, or a text of a form, in which what looks like a tag is text.
    """

    sound: bool = False
    wordless: bool = False
    formed: bool = False


NOTHING = Assured()

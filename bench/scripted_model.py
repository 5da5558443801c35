"""The scripted engine as an agent's model: it calls a shell, reads what it said, answers, and so on.

`--engine scripted --script bench/scripted_model.py`. Answers are as long as a model's, and different for each
prompt. A step really takes the time that it costs.
"""

from hashlib import blake2b

from bench.shapes import filler
from ds4.testing.agent_script import MARKUPS, THOUGHTS, Task, call_for

REALTIME = True
COST = {"base": 0.002, "per_decode_row": 0.0005, "per_prefill_row": 0.0001, "per_mb": 0.0001}


def reply(prompt: str) -> str:
    seed = blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    thought = next((text for opening, text in THOUGHTS.items() if prompt.endswith(opening)), "")
    if thought:
        thought = thought.replace("Let me see.", filler(f"{seed} thought", 200))
    markup = next(markup for markup in MARKUPS if markup.sign in prompt)
    turns = prompt.split(markup.turn)
    asked = markup.result not in turns[-2] if len(turns) > 1 else True
    call = call_for(prompt, Task("made.txt", seed, f'grep -rn "{seed}" src | head -5')) if asked else None
    return thought + filler(f"{seed} answer", 120 if call else 400) + (call or "")

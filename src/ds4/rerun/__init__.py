"""Recording a run so that it can be repeated, and repeating it.

Rules:
- `record/` wraps the ports at which the server meets the world: clock, ids, engine, tokenizer, checkpoint
  store, clients. Without --trace nothing is wrapped, and nothing costs anything.
- `replay/` puts what was recorded behind the same ports, wraps them in the same recorders, and compares the
  two traces.
"""

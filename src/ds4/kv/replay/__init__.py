"""What the model sampled in earlier answers, for when clients send back what they understood of them.

`meaning`: what an answer says, and whether two say the same. `record`: an answer as it was sampled.
`splice`: puts it in the place of the client's copy. `memory` remembers records, `database` does so on disk;
`disk_copy` is the thread in between, `notebook` all of it, `replayer` the front door for whoever renders.
"""

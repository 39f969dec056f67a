"""The Siege of Paris (L'Assedio di Parigi, about 1871): one army within, two around it.

`board` has the places, the set-up and what stands where, `moves` finds each army's moves,
`picture` draws, `game` is the game itself.
"""

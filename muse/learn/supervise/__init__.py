"""Learning from pairs: each learner fits maps into a shared space to known translations.

One contract: a learner takes `TrainingPairs` (rows of both languages, pairs of rows, their weights), and a
random generator if it draws, and returns the `Maps` of both languages; some return the TrainingPairs with
pairs added or left out. `linear` has those in closed form, `descent` those that are trained, `induced` those
that find more pairs. `cross_validation` tests them on pairs held out, `model_selection` chooses.
"""

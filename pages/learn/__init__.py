"""The lesson: one module a step, each with its title, its question and its picture."""

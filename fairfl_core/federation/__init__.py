"""The whole method across machines, on Flower: training, statistics, fair answers, no row sent.

    study -> join -> split -> turns -> statistics -> solution -> each client's own predictor -> verdict

`study` is what all agreed on, `loader` opens a client's own rows, `messages` names everything that
may travel, with its shape and its purpose, and `log` writes it down in plain words. `client`
answers messages, `server` asks, `statistics` turns answers into a program; none of them knows
Flower. `client_app`, `server_app`, `superlink` and `processes` are its thin skin.
"""

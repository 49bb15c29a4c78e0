"""The words of the app, each in a sentence or two, and what no metric settles."""

__all__ = ["UNSETTLED", "WORDS"]

WORDS = (
    ("Accuracy.", "The share of people who get the right answer."),
    (
        "Base rate.",
        "How many people of a group truly have a label. Where base rates differ, even a model "
        "that is always right breaks statistical parity.",
    ),
    ("Client.", "One place that keeps its own data: a hospital, a state, a school."),
    (
        "Debiased gap.",
        "The gap that is left once chance is taken out, over many clients. Below zero: chance "
        "alone explains what was seen.",
    ),
    (
        "Epsilon, ε.",
        "The largest gap one allows. ε0 overall, εc inside each client. 0 asks for equal rates, "
        "1 for nothing.",
    ),
    (
        "Equal opportunity (eop).",
        "Of those who truly have the favourable label, every group is recognised equally often.",
    ),
    ("Equalized odds (eo).", "For each true label, every group is recognised equally often."),
    (
        "Equalized odds, all errors (eo-full).",
        "For each true label, every group gets each answer, right or wrong, equally often. With "
        "two labels it is the same as eo.",
    ),
    (
        "Exact region.",
        "Every rule that cuts the scores, with the lottery over them: the whole area under the "
        "ROC curve.",
    ),
    ("FedAvg.", "Federated averaging: clients train at home, a server averages the models."),
    (
        "Gap, global.",
        "How far apart the groups' rates lie when all clients' people are taken together; the "
        "worst of the notion's rates.",
    ),
    ("Gap, local.", "The same inside one client. Clients differ, so the worst one is named."),
    ("Group.", "The people who are compared: by sex, by race. A sensitive attribute."),
    (
        "Interval.",
        "Between which two values a rate or gap lies, in 95 of 100 such checks. Wide on few "
        "people.",
    ),
    (
        "Kernel region.",
        "The lottery may look at the model's answer first: “when it says ill, answer healthy "
        "for one in ten”. Contains the simplex.",
    ),
    ("Label.", "What is true of a person: ill or healthy. Favourable: the one eop looks at."),
    (
        "Larger half.",
        "The half of the clients with the most people. Their gaps are told with chance taken "
        "out, as small clients' gaps are mostly chance.",
    ),
    (
        "Lottery.",
        "The fair predictor: with a stated chance it keeps the model's answer, else it gives "
        "another. The chances depend on client and group.",
    ),
    (
        "Neighbours.",
        "Two data sets that privacy must not tell apart: one person added or removed, or one "
        "person replaced by another.",
    ),
    (
        "Noise floor.",
        "The gap that a perfectly fair rule would show on so few people, by chance alone.",
    ),
    ("Notion.", "What is meant by fair: sp, eop, eo or eo-full. They exclude each other mostly."),
    ("Prediction.", "The model's answer: the label with the largest score."),
    (
        "Price of a limit.",
        "How much accuracy one more hundredth of it buys, at the present setting and in its "
        "neighbourhood only. The overall price is that of the overall limit, a local price that "
        "of one client's.",
    ),
    (
        "Privacy budget.",
        "How much the noisy counts may give away about any one person. Small: much noise, much "
        "privacy.",
    ),
    (
        "Rates.",
        "The shares that are compared: counted by labels, or estimated so that small clients "
        "lean less on chance.",
    ),
    (
        "Recognised.",
        "Of those who truly have a label, the share that is answered so: its true-positive rate.",
    ),
    ("Region.", "All that a lottery can reach: simplex, kernel or exact, each within the next."),
    (
        "ROC curve.",
        "For every threshold on the score: ill people recognised against healthy people alarmed.",
    ),
    ("Score.", "The model's number for each label, before it is turned into an answer."),
    (
        "Seed.",
        "The number of a run: each splits the people anew, trains anew and is solved on its own.",
    ),
    ("Simplex region.", "The paper's: keep the model's answer, or give a fixed one."),
    (
        "Statistical parity (sp).",
        "Every group gets each answer equally often, whatever is true of them.",
    ),
    ("Unseen people (test).", "People neither the model nor the lottery was fitted on."),
    ("Validation.", "The people whom the lottery is fitted on. The model was trained on others."),
)

UNSETTLED = (
    (
        "The group is asked at the decision, unless told otherwise.",
        "The lottery asks each person's group, and treats groups by different chances. Where law "
        "or decency forbids that, “Decide without the group” (--without-group) finds one rule for "
        "all groups: then the group is needed only to fit and to check it, and on those it is "
        "fitted on the same limits cost as much accuracy or more. Guessing the group is worse.",
    ),
    (
        "A lottery treats like people unlike.",
        "Two people with the same file may get different answers. The groups come out even; the "
        "person who lost has no reason to be given but chance.",
    ),
    (
        "A limit met on few people proves little.",
        "Small clients differ by luck. A gap under the noise floor is not fairness shown, and a "
        "gap above it is not yet unfairness shown.",
    ),
    (
        "Labels may be unfair themselves.",
        "“Ill” means found ill; “repaid” means was lent to. If one group was looked at less, all "
        "rates here inherit that, and no notion sees it.",
    ),
    (
        "Base rates are taken as given.",
        "Where more of one group are ill, the notions pull against each other. Which of them is "
        "due is a question of what the decision is for.",
    ),
    (
        "Equal may mean equally bad.",
        "A gap can close because some are recognised less. Look at who pays, not at the gap alone.",
    ),
    (
        "Groups that nobody named are not protected.",
        "Women may be treated fairly, and old women not.",
    ),
)

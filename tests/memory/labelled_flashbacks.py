"""A hundred flashbacks with what became of them, invented and labelled by hand before the rule was measured on them.

Each: what is remembered, as ``speaker: text``; what was just said to Mira; what she says; and the label, U for used, I
for ignored, C for contradicted. Some can't be told by words, and stay in: the set is to measure, not to please.
"""

from __future__ import annotations

from dataclasses import dataclass

from simuverse.memory.fates import Fate


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    remembered: str
    heard: str
    reply: str
    fate: Fate


_FATES = {"U": Fate.USED, "I": Fate.IGNORED, "C": Fate.CONTRADICTED}

_LINES = """
U | Tomas: I left the red lantern under the stone bridge. | Jade: Where is the red lantern? | Tomas left it under the stone bridge.
U | Tomas: I left the red lantern under the stone bridge. | Jade: Have you seen my lantern? | Look under the bridge.
U | Greta: The ferry leaves at half past four. | Per: When does the ferry go? | At half past four.
U | Greta: The ferry leaves at half past four. | Per: Is there still a ferry today? | Yes, Greta says one at half past four.
U | Hanne: My brother Oskar repairs clocks in the old tannery. | Nils: Who could mend this clock? | Hanne's brother Oskar could.
U | Hanne: My brother Oskar repairs clocks in the old tannery. | Nils: My watch stopped. | Try the old tannery, there is someone who does that.
U | Nils: I am allergic to walnuts. | Hanne: What should I bake for Nils? | Anything without walnuts, he is allergic.
U | Nils: I am allergic to walnuts. | Hanne: I made nut bread for Nils. | Careful, walnuts make him ill!
U | Mira: I promised Edda to water the roses on Friday. | Per: Are you free on Friday? | I have to water roses for Edda that day.
U | Mira: I promised Edda to water the roses on Friday. | Edda: Did you think of the roses? | Yes, I'll do it on Friday as I said.
U | Per: The harbour office closes at noon on Saturdays. | Jade: I need a stamp from the harbour office. | Be there before noon if it is a Saturday.
U | Jade: My daughter Liv starts school in August. | Nils: How is Jade's family? | Her daughter Liv starts school soon.
U | Jade: My daughter Liv starts school in August. | Jade: I am so busy with the little one. | Is it because Liv starts school?
U | Oskar: The granary key hangs behind the loom. | Greta: I can't get into the granary. | The key hangs behind the loom.
U | Oskar: The granary key hangs behind the loom. | Greta: Do you know where the key is? | Behind the loom, I believe.
U | Edda: Never take the cliff path after rain. | Per: I will walk home by the cliff. | It rained, so don't take the cliff path.
U | Edda: I would love a blue scarf. | Hanne: What could we give Edda? | She would love a scarf, a blue one.
U | Greta: A sack of flour costs eleven coins. | Nils: What is flour these days? | Eleven coins a sack.
U | Greta: A sack of flour costs eleven coins. | Nils: I paid fifteen for a sack of flour. | Greta gets it for eleven!
U | Tomas: The doctor comes to the mill on Tuesdays. | Jade: My arm hurts. | The doctor is at the mill on Tuesdays.
U | Per: I once swam across the strait in winter. | Liv: Tell me something about Per. | He once swam across the strait, in winter!
U | Nils: The lighthouse keeper plays the accordion. | Hanne: We need music for the wedding. | The lighthouse keeper plays the accordion.
U | Hanne: Our cellar floods every spring. | Oskar: I'd like to store the seed in Hanne's cellar. | Not there, it floods in spring.
U | Jade: The password of the boat shed is heron. | Per: I'm standing at the boat shed. | The word is heron.
U | Oskar: I bought the grey mare from Widow Falk. | Greta: Whose is that mare? | It was Widow Falk's, then Oskar bought it.
U | Edda: The baker gives away old bread at six. | Tomas: I am hungry and have no coin. | Go to the baker at six, there is bread for free.
U | Liv: My cat is called Thimble. | Greta: Some cat sits at my window. | That may be Thimble.
U | Tomas: I will sell the barge next year. | Per: Tomas seems worried. | He means to sell the barge.
U | Greta: The well by the chapel is poisoned. | Liv: I'm thirsty. | Don't drink from the well by the chapel.
U | Mira: I hid the letter in the third drawer. | Edda: Where did you put the letter? | In the third drawer.
U | Per: My ship sails on the ninth of May. | Hanne: When must Per's coat be ready? | Before the ninth of May, his ship sails then.
U | Nils: I want to learn to carve spoons. | Oskar: I have some spare linden wood. | Nils would like it, he wants to carve spoons.
U | Hanne: The path through the marsh has new planks. | Jade: Is there a short way to the village? | Through the marsh, there are planks.
U | Jade: I moved into the house with the green door. | Tomas: Where do I bring Jade's chair? | To the house with the green door.
U | Oskar: Seven sheep are missing from the hill. | Edda: Why is Oskar so angry? | He misses seven sheep.
U | Liv: I am afraid of geese. | Hanne: Shall we take Liv to the pond? | Rather not, the geese frighten her.
I | Tomas: I left the red lantern under the stone bridge. | Jade: Do you like lanterns? | I do, they make evenings warm.
I | Greta: The ferry leaves at half past four. | Per: I hate ferries. | Why? They are so slow and calm.
I | Hanne: My brother Oskar repairs clocks in the old tannery. | Nils: What a noise those clocks make! | I find it soothing.
I | Nils: I am allergic to walnuts. | Hanne: I planted a walnut tree. | That takes patience.
I | Mira: I promised Edda to water the roses on Friday. | Per: Are you free on Monday? | Yes, come by in the morning.
I | Per: The harbour office closes at noon on Saturdays. | Jade: I work in the harbour office now. | Congratulations, that is wonderful!
I | Jade: My daughter Liv starts school in August. | Nils: The school has a new roof. | It was about time.
I | Oskar: The granary key hangs behind the loom. | Greta: I am learning to use a loom. | It is hard on the back.
I | Edda: Never take the cliff path after rain. | Per: It rains again. | Let us stay inside and play cards.
I | Edda: I would love a blue scarf. | Hanne: The sea is so blue today. | Like glass, isn't it?
I | Greta: A sack of flour costs eleven coins. | Nils: I baked with rye flour. | May I taste it?
I | Tomas: The doctor comes to the mill on Tuesdays. | Jade: The mill is so loud. | One gets used to it.
I | Per: I once swam across the strait in winter. | Liv: Winter is near. | Then we need more wood.
I | Nils: The lighthouse keeper plays the accordion. | Hanne: The lighthouse was dark last night. | How strange.
I | Hanne: Our cellar floods every spring. | Oskar: Spring at last! | The birds are back.
I | Jade: The password of the boat shed is heron. | Per: I saw a heron at the shed. | Beautiful birds.
I | Oskar: I bought the grey mare from Widow Falk. | Greta: My horse limps. | Let me look at the hoof.
I | Edda: The baker gives away old bread at six. | Tomas: The baker is my cousin. | I didn't know that!
I | Liv: My cat is called Thimble. | Greta: I lost my thimble while sewing. | I will help you look.
I | Tomas: I will sell the barge next year. | Per: What a fine barge. | It was built by my uncle.
I | Greta: The well by the chapel is poisoned. | Liv: The chapel has a bell. | I hear it every evening.
I | Mira: I hid the letter in the third drawer. | Edda: I wrote a letter to my son. | He will be glad.
I | Per: My ship sails on the ninth of May. | Hanne: May is my favourite month. | Mine is October.
I | Nils: I want to learn to carve spoons. | Oskar: I have a spare spoon. | Thank you, I'll take it.
I | Hanne: The path through the marsh has new planks. | Jade: I need planks for my shelf. | Ask the carpenter.
I | Jade: I moved into the house with the green door. | Tomas: I want to paint my door. | Take a bright colour.
I | Oskar: Seven sheep are missing from the hill. | Edda: Wool is dear this year. | I know, I paid twice as much.
I | Liv: I am afraid of geese. | Hanne: We eat goose on Sunday. | I'll bring apples.
I | Greta: My barge is called Swallow. | Per: The swallows are back. | Then summer is near.
I | Hanne: I dreamt of my father. | Nils: My father was a sailor. | Did he tell you stories?
I | Oskar: The bell rang twice last night. | Jade: Did you sleep well? | Like a stone.
I | Edda: The market moved to the quay. | Liv: I love markets. | I love the smell of them.
I | Tomas: I can't read. | Per: I wrote a poem. | Read it to me!
I | Jade: The bees swarm in June. | Hanne: This honey is good. | I put it into my tea.
I | Nils: I broke my left arm as a child. | Oskar: My arm is tired. | Rest for a while.
I | Per: The north window doesn't shut. | Greta: It is cold in here. | I will light the stove.
I | Liv: I found a silver coin at the ford. | Edda: I have no coin left. | I can lend you one.
I | Greta: My aunt lives in Sund. | Tomas: My aunt visits us tomorrow. | Then I will sweep the floor.
I | Hanne: Salt is cheaper in the harbour. | Jade: Could you pass the salt? | Here it is.
I | Oskar: The old oak was struck by lightning. | Nils: What a storm! | I counted the thunder.
C | Greta: The ferry leaves at half past four. | Greta: The ferry leaves at five now. | Good to know.
C | Tomas: I live in the mill. | Tomas: I moved to the harbour last week. | I hope you like it there.
C | Nils: I am allergic to walnuts. | Nils: I am not allergic to walnuts any more. | How good for you!
C | Hanne: The bridge is closed. | Hanne: The bridge is open again. | Then I can go home that way.
C | Edda: The market is on Wednesdays. | Edda: The market is on Thursdays from May on. | I will tell the others.
C | Per: My boat is called Swallow. | Per: My boat is called Gannet now. | A fine name.
C | Oskar: The key hangs behind the loom. | Oskar: The key hangs in the kitchen now. | Thank you for telling me.
C | Jade: A sack of flour costs eleven coins. | Jade: A sack of flour costs fourteen coins now. | So much?
C | Liv: I work at the bakery. | Liv: I work at the school now. | Do you like it?
C | Greta: My appointment with the doctor is on Monday. | Greta: My appointment with the doctor was cancelled. | Are you well again?
C | Tomas: The well water is safe to drink. | Per: The well water is not safe to drink. | Who told you that?
C | Nils: The sheep graze on the east hill. | Hanne: Is the east hill free? | The sheep don't graze on the east hill.
C | Hanne: The concert begins at seven. | Per: The concert begins at eight, not at seven. | Who is right?
C | Edda: I like oysters. | Edda: I don't like oysters. | Then we cook something else.
C | Per: The north gate is locked at night. | Oskar: The north gate isn't locked at night. | Really? I always walked around.
C | Oskar: I have three sons. | Oskar: I have four sons now, the little one is a week old! | Congratulations!
C | Jade: The boat shed belongs to Per. | Jade: The boat shed belongs to Nils now. | Since when?
C | Liv: My teacher is Miss Brand. | Liv: My teacher is Mister Holt now. | Is he kind?
C | Greta: The library opens at nine. | Tomas: When does the library open? | It opens at ten, Greta is wrong about nine.
C | Tomas: Edda is ill. | Edda: I am healthy again. | I am glad.
I | Tomas: The chapel has a red roof. | Tomas: The school has a blue roof. | Both can be seen from here.
I | Greta: The ferry leaves at half past four. | Greta: The bus leaves at five. | I will take the bus.
U | Greta: The otter sleeps in the reeds. | Liv: Where do otters sleep? | In the reeds, Liv.
I | Greta: I have two sisters. | Per: I have one brother. | I have neither.
"""  # noqa: E501


def _labelled() -> tuple[Labelled, ...]:
    found: list[Labelled] = []
    for line in _LINES.strip().splitlines():
        fate, remembered, heard, reply = line.split(" | ")
        found.append(Labelled(remembered=remembered, heard=heard, reply=reply, fate=_FATES[fate]))
    return tuple(found)


LABELLED = _labelled()

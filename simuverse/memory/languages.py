"""Function words by language: what search tokens leave out, and what tells a text's language.

``stop`` words carry no meaning to search by: articles, pronouns, particles, common prepositions and auxiliaries. They
are dropped in a text of their language, and vote for it. ``telling`` words only vote: they are kept, because they mean
something (negation above all) or are names as well (Will, May). Each language is named as its Snowball stemmer is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionWords:
    stop: frozenset[str]
    telling: frozenset[str]


def _words(stop: str, telling: str = "") -> FunctionWords:
    return FunctionWords(stop=frozenset(stop.split()), telling=frozenset(telling.split()))


LATIN: dict[str, FunctionWords] = {
    "english": _words(
        "a an the and or but if of at by for with about to from in on into onto as than then so that this "
        "these those i me my mine you your yours he him his she her hers it its we us our ours they them "
        "their theirs myself yourself himself herself itself ourselves themselves am is are was were be been "
        "being have has had having do does did doing can could would should what where when who whom whose "
        "which how why there here",
        "not no never nor without nothing nobody none will may might must shall because while after before "
        "said says some any all very just also only too",
    ),
    "german": _words(
        "der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf aus bei mit "
        "nach seit von vom zu zum zur für über unter vor ich mich mir mein meine meinen du dich dir dein "
        "deine er ihn ihm sein seine sie ihr ihre es wir uns unser ihnen sich ist sind war waren bin bist hat "
        "habe haben hatte hatten wird wurde werden dass als wie was wo wann wer wen wem warum so da dann auch",
        "nicht kein keine keinen nie niemals nichts niemand ohne nur noch schon sehr",
    ),
    "dutch": _words(
        "de het een en of maar in op aan bij met naar van voor uit over om te tot door ik mij me mijn jij je "
        "jou jouw hij hem zijn zij ze haar wij we ons onze hun hen zich is ben bent was waren heb hebt heeft "
        "hebben had hadden wordt werd worden dat dit die deze als dan wat waar wanneer wie waarom hoe er",
        "niet geen nooit niets niemand zonder ook nog wel zeer",
    ),
    "french": _words(
        "le la les un une des du de d l et ou mais à au aux en dans sur sous par pour avec chez vers je j me "
        "m moi mon ma mes tu te t toi ton ta tes il elle on lui son sa ses se s nous notre nos vous votre vos "
        "ils elles leur leurs eux ce c cet cette ces ça que qu qui quoi dont où quand comment pourquoi est "
        "sont était étaient suis es sommes êtes a ai as ont avait avaient y",
        "ne pas jamais rien personne sans plus très aussi",
    ),
    "spanish": _words(
        "el la los las un una unos unas y e o u de del a al en con por para sobre desde hasta yo me mi mis tú "
        "te ti tu tus él ella le lo se su sus nosotros nos nuestro nuestra vosotros ustedes usted ellos ellas "
        "les que quien quién qué dónde donde cuándo cuando cómo como cuál es son era eran soy eres está están "
        "estaba estoy fue ha han he había hay ese esa este esta esto eso",
        "no nunca nada nadie ni sin pero muy más también",
    ),
    "portuguese": _words(
        "o a os as um uma uns umas e ou de do da dos das em no na nos nas ao à aos às com por pelo pela para "
        "sobre desde até eu me mim meu minha tu te teu tua ele ela lhe se seu sua seus suas nós nosso nossa "
        "você vocês eles elas que quem onde quando como qual é são era eram sou está estão estava foi ser tem "
        "têm tinha há esse essa este esta isso isto",
        "não nunca nada ninguém nem sem mas muito mais também",
    ),
    "italian": _words(
        "il lo la i gli le un uno una e ed o di del dello della dell dei degli delle a al allo alla all ai "
        "agli alle da dal dalla dall dai in nel nello nella nell nei con su sul sulla sull per tra fra io me "
        "mi mio mia tu te ti tuo tua lui lei gli si suo sua suoi sue noi ci nostro voi vi loro che chi cui "
        "dove quando come quale perché è sono era erano sei ho ha hanno aveva questo questa quello quella c l "
        "d",
        "non mai niente nulla nessuno né senza ma molto più anche",
    ),
    "catalan": _words(
        "el la els les l un una uns unes i o de del dels d a al als en amb per pel pels sobre des fins jo em "
        "m mi meu meva tu et teu teva ell ella li es se s seu seva nosaltres ens nostre vosaltres us ells "
        "elles que qui què on quan com és són era eren sóc està estava va ha han havia hi ho aquest aquesta "
        "això",
        "no mai res ningú ni sense però molt més també",
    ),
    "romanian": _words(
        "un o al a ai ale și sau de din la în pe cu pentru despre către eu mă mie meu mea tu te tine tău ta "
        "el ea îl îi lui ei se său sa noi ne nostru voi vă ei ele le lor că care cine ce unde când cum este e "
        "sunt era erau am ai are au avea fost acest această acel acea să",
        "nu niciodată nimic nimeni nici fără dar foarte mai",
    ),
    "swedish": _words(
        "en ett den det de och eller i på av till från för med om vid hos över under jag mig min mitt mina du "
        "dig din ditt han honom hans hon henne hennes sig sin sitt sina vi oss vår ni er dem deras är var "
        "vara har hade att som vad var när vem varför hur då där här detta denna",
        "inte ingen inget aldrig inga utan men mycket också",
    ),
    "norwegian": _words(  # and Danish: most of these words are both's, and the stemmer cuts Danish endings as well
        "en ei et den det de og eller i på av af til fra for med om ved hos over under jeg meg mig min mitt mit "
        "mine du deg dig din ditt dit han ham hans hun henne hende hennes hendes seg sig sin sitt sit sine vi os "
        "oss vår vores dere jer dem deres er var være har have hadde havde at å som hva hvad hvor når hvornår "
        "hvem hvorfor hvordan da der her dette denne ble blev",
        "ikke ingen intet aldri aldrig uten uden men mye meget også",
    ),
    "finnish": _words(
        "ja tai on oli olen olet ovat olivat olla ollut että jos kun niin kuin minä minun minut minulla sinä "
        "sinun sinut hän hänen hänet hänellä se sen sitä siinä me meidän te teidän he heidän ne tämä tämän "
        "tuo mikä mitä missä milloin kuka miksi miten joka jonka jossa",
        "ei en et eivät älä ole koskaan mutta ilman myös hyvin",
    ),
    "estonian": _words(
        "ja või on oli olen oled olid olla et kui siis nagu mina ma minu mind mulle sina sa sinu sind tema ta "
        "teda see selle seda meie me teie te nemad nad nende need mis mida kus millal kes miks kuidas kelle",
        "ei pole mitte kunagi midagi keegi aga ilma ka väga",
    ),
    "hungarian": _words(
        "a az egy és vagy hogy ha mint is van volt vannak voltak lesz én engem nekem te téged neked ő őt neki "
        "mi minket nekünk ti ők őket nekik ez ezt azt ezek azok aki ami amely mit hol hova mikor ki miért "
        "hogyan meg el ki be le fel",
        "nem ne soha semmi senki sem nincs de nélkül nagyon csak",
    ),
    "polish": _words(
        "i a w we z ze na do od o u po przy za przez dla ja mnie mi mój moja ty ciebie ci twój on jego jemu "
        "go mu ona jej ją ono my nas nam wy was oni ich im się to ten ta te tego tej jest są był była było "
        "były być co gdzie kiedy kto jak dlaczego że który która",
        "nie nigdy nic nikt ani bez ale tylko bardzo już",
    ),
    "czech": _words(
        "a i v ve z ze na do od o u po při za pro já mě mi můj moje ty tě ti tvůj on jeho jemu ho mu ona její "
        "jí my nás nám vy vás oni jejich se si to ten ta ti té tom je jsou byl byla bylo byli být jsem co kde "
        "kdy kdo jak proč že který která",
        "ne není nikdy nic nikdo ani bez ale jen velmi už",
    ),
    "serbian": _words(
        "i u na sa od do za po iz o ja me mi moj moja ti te tvoj on ga mu njegov ona je joj njen mi nas vi "
        "vas oni njih se to taj ta te jesu bio bila bilo bili biti sam si su smo što šta gde gdje kada ko "
        "kako zašto da koji koja",
        "ne nije nikad nikada ništa niko ni bez ali samo veoma",
    ),
    "lithuanian": _words(
        "ir ar į iš su ant prie po už apie aš mane man mano tu tave tau tavo jis jo jam jį ji jos jai ją mes "
        "mus mums jūs jie jų tai tas ta šis ši yra buvo esu būti kad kas ką kur kada kodėl kaip kuris kuri",
        "ne nėra niekada nieko niekas be bet tik labai",
    ),
    "turkish": _words(
        "ve veya ile bir bu şu o da de ki mi mı mu mü için gibi ben beni bana benim sen seni sana senin onu "
        "ona onun biz bizi bizim siz onlar onların ne nerede nereye zaman kim nasıl idi",
        "değil yok hiç asla hayır ama çok daha",
    ),
    "indonesian": _words(
        "yang dan atau di ke dari pada untuk dengan oleh ini itu saya aku kamu anda dia ia kami kita mereka "
        "adalah akan telah sudah apa siapa mana kapan kenapa mengapa bagaimana",
        "tidak bukan jangan belum tanpa tetapi tapi sangat juga",
    ),
    "irish": _words(
        "an na agus nó i ag ar as le de do go faoi ó mé mo tú do sé a sí muid sinn sibh siad iad é í is tá "
        "bhí atá cad cá cé conas cathain seo sin",
        "ní níl gan ach",
    ),
    "basque": _words(
        "eta edo da zen dira ziren du zuen dut duzu dute ni nik nire zu zuk zure hura hark haren gu guk gure "
        "haiek hau hori zer non nora noiz nor zergatik nola bat",
        "ez inoiz ezer inor gabe baina oso ere",
    ),
    "esperanto": _words(
        "la kaj aŭ de al en sur por kun el mi min mia vi vin via li lin lia ŝi ŝin ŝia ĝi ni nin nia ili ilin "
        "ilia estas estis esti tio tiu ĉi kio kie kiam kiu kial kiel ke",
        "ne neniam nenio neniu sen sed tre ankaŭ",
    ),
}
"""Languages in Latin letters that have a Snowball stemmer, told apart by these words."""

OTHER: dict[str, FunctionWords] = {
    "russian": _words(
        "и в во на с со к ко о об от до из у за по для я меня мне мой моя ты тебя тебе твой он его ему она ее "
        "ей оно мы нас нам вы вас вам они их им себя это этот эта эти тот та что кто где когда как почему "
        "который которая был была было были есть бы же ли",
    ),
    "greek": _words(
        "ο η το οι τα του τησ των τον την τουσ τισ ενασ μια ενα και η να θα σε στο στη στον στην στα με απο "
        "για που πωσ τι ποιοσ ποια ποτε εγω με μου εσυ σε σου αυτοσ αυτη αυτο εμεισ μασ εσεισ σασ ειναι ηταν "
        "ειμαι εχει ειχε οτι",
    ),
    "arabic": _words(
        "و في من إلى على عن مع أن إن هو هي هم أنا نحن أنت هذا هذه ذلك تلك التي الذي ما ماذا أين متى كيف كان "
        "كانت قد ثم أو",
    ),
    "hindi": _words(
        "का के की को में से पर ने और या है हैं था थी थे हो मैं मुझे मेरा मेरी तुम तुम्हारा आप वह वे उसका उसकी "
        "उसने यह ये हम क्या कहाँ कहां कब कौन कैसे कि जो एक",
    ),
    "tamil": _words(
        "ஒரு இந்த அந்த நான் நீ அவன் அவள் அவர் அது இது என் உன் மற்றும் என்று என்ன எங்கே எப்போது யார்",
    ),
    "armenian": _words(
        "և ու է են էր էի ես դու նա մենք դուք նրանք իմ քո նրա այս այդ այն որ ինչ որտեղ երբ ով մի",
    ),
}
"""Languages told by their script alone; accents folded as search tokens are."""

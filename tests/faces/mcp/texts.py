"""Texts as people, programs and agents write them, in many scripts: what estimates of their cost are held against."""

from __future__ import annotations

#: Prose says what the first article of the Universal Declaration of Human Rights says.
TEXTS = {
    "english": (
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and c"
        "onscience and should act towards one another in a spirit of brotherhood."
    ),
    "french": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison "
        "et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité."
    ),
    "german": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewisse"
        "n begabt und sollen einander im Geist der Brüderlichkeit begegnen. Donaudampfschifffahrtsgesellsch"
        "aftskapitän"
    ),
    "polish": (
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni r"
        "ozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa."
    ),
    "turkish": (
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve bi"
        "rbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler."
    ),
    "vietnamese": (
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều "
        "được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu."
    ),
    "finnish": (
        "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu jä"
        "rki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä."
    ),
    "greek": (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμ"
        "ένοι με λογική και συνείδηση."
    ),
    "russian": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совес"
        "тью и должны поступать в отношении друг друга в духе братства."
    ),
    "arabic": (
        "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم "
        "بعضًا بروح الإخاء."
    ),
    "arabic vowels": "يُولَدُ جَمِيعُ النَّاسِ أَحْرَارًا مُتَسَاوِينَ فِي الْكَرَامَةِ وَالْحُقُوقِ",
    "hebrew": (
        "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם "
        "לנהוג איש ברעהו ברוח של אחווה."
    ),
    "hebrew points": "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ",
    "persian": (
        "تمام افراد بشر آزاد به دنیا می\u200cآیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و وجدان هستند"
    ),
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "tamil": ("மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள்"),
    "telugu": "ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు.",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "burmese": ("လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။"),
    "khmer": "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។",
    "tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང་། ཐོབ་ཐངགི་རང་དབང་འདྲ་མཉམ་དུ་ཡོད་ལ།",
    "georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։",
    "amharic": "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
    "chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "traditional": "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。",
    "japanese": "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。カートを空にする。",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 장바구니가 비어 있다.",
    "emoji": "🛒✅🎉 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇩🇪🇯🇵 👍🏽 🧑\u200d🚀 🫠\U0001fabf",
    "emoji text": "the 🛒 empties ✅ after payment 💳 and shows 🎉",
    "combining": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "math": "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), ℕ ⊆ ℕ₀ ⊂ ℤ ⊂ ℚ ⊂ ℝ ⊂ ℂ",
    "box": "┌──────┐│ a │└──────┘ ▁▂▃▄▅▆▇█ ░▒▓",
    "fullwidth": "ＡＣ１２\u3000ｔｈｅ\u3000ｃａｒｔ",
    "cuneiform": "𒀀𒁀𒂀𒃀 𓀀𓁐 𐍈𐌰",
    "math letters": "𝒜𝓁𝓁 𝕙𝕦𝕞𝕒𝕟 𝖇𝖊𝖎𝖓𝖌𝖘",
    "run ids": "r-4k2p9xqa r-zq7w3m2x r-b5n6c7vd run:r-2q3w4e5r r-aaaa2222 r-xkqjzvwp",
    "hex": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 commit:dea93d3f2c b584620",
    "uppercase": "THE CART KEEPS ITS LINES AFTER A RELOAD. INTERNAL SERVER ERROR IN CHECKOUT MODULE",
    "camel": "getFeatureByIdentifier XMLHttpRequestFactory parseJSONDocumentFromString useEffectOnceWhenMounted",
    "snake": ("test_coupon_twice test_cart_keeps_its_lines __init__ self._calls_by_request_id assert_called_once_with"),
    "ids": (
        "tests/test_coupon.py::TestCoupon::test_twice[param-1-True] src/cart.py:88 tests/unit/checkout/test"
        "_totals.py::test_sum[0.1-0.2]"
    ),
    "error": (
        "AssertionError: assert 2 == 1 (src/cart.py:88) E   KeyError: 'coupon' TypeError: unsupported opera"
        "nd type(s) for +: 'int' and 'str'"
    ),
    "trace": (
        '  File "lib/json/decoder.py", line 355, in raw_decode raise JSONDecodeError("Expecting value",'
        " s, err.value) from None"
    ),
    "code": (
        "def total(lines: list[int]) -> int:\n    return sum(line.price * line.quantity for line in lines i"
        "f not line.free)\n"
    ),
    "code js": (
        "const total = (lines) => lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0); // {{}}"
    ),
    "json": (
        '{"feature_id":"AC1","passes":true,"level":"ran","evidence_ref":"run:r-4k2p9xqa","re'
        'd":[{"id":"a","line":null}]}'
    ),
    "regex": '^(?:[a-z0-9!#$%&\'*+/=?^_`{|}~-]+(?:\\.[a-z0-9]+)*|"(?:[\\x01-\\x08])*")$',
    "punct": "!@#$%^&*()_+{}|:\"<>?~`-=[]\\;',./ ,.,.,. ;:;: <<>>><><> &&||!! ~~~===",
    "times": "2026-11-30T16:17:18.123Z 2026-05-21T00:00:00.000Z 16:10:05 3.14159265358979",
    "numbers": "1 22 333 4444 55555 1234567890 0.001 1e-9 127.0.0.1 AC1 AC12 AC10000 C0042",
    "blanks": "a  b   c    d     e\tf\t\tg      h",
    "lines": "a\n\nb\n\n\nc\nd\n",
    "url": "https://example.invalid/path/to/file.html?query=1&x=%20y#frag",
    "shouting": "aAbBcCdDeEfFgGhHiIjJ QwErTyUiOp",
    "zero width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f",
    "rare han": "龘靐齉爩鱻麤龗灪吁龖厵滟爨癵驫麣",
}

interface Candidate {
  readonly charset: string
  /** The most frequent letters of the languages of this charset. */
  readonly frequent: ReadonlySet<string>
  /** The script all its words are written in. */
  readonly script: RegExp
  /** Bytes of a character beyond ASCII; characters count by them, so that charsets can be compared. */
  readonly width: 1 | 2
}

const hanSimplified =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运'
const hanTraditional =
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運'
const japanese =
  'あいうえおかがきぎくぐけげこごさざしじすずせぜそただちっつづてでとどなにぬねのはばひびふぶへべほぼまみむめもゃやゅゆょよらりるれろわをんアイウエオカガキギクグケコゴサザシジスズセソタダチッツテデトドナニネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョラリルレロワンー日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢'
const korean =
  '이다는을의에가하고지도로한를기은서사인리자대어나시들해아과스게일정부수있그그장전것여보제주만라와성구으면조진상동국원비오관공화우치등신용경인소방니했문되선세중년안민모적계안재연위마내학할였없발개생실말통산무때업호까회당음습며유실불요던두분물히교또속금간미바드르트크프터야거려난든차반더입명체영심외결후월식역행직단본권양복법건표론'
const cyrillic = 'оеаинтсрвлкмдпуяыьгзбчйжхшюцщОПВСНТКМАДРБГИЗ'
const latinWest = 'äöüßÄÖÜéèêëàâáãåçñíìîïóòôõøúùûæœÉÀÅØÆÓÁÇ'
const latinEast = 'ąćęłńóśźżáčďéěíňřšťúůýžőűöüăâîșțŁŚŻČŘŠŽ'
const turkish = 'ığşçöüİŞÇÖÜâ'
const greek = 'αοιετσνηυρπκμλςόίάήέώύγδθωφχβξΑΤΟΕΠΚΣΜ'
const hebrew = 'יהולאתשרבמנםעדקחפכגטסןצזךףץ'
const arabic = 'اليمنوتربةعدسفهكقحجشطصخأضزثذىإءغئظؤآ'
const thai = 'านรกเงอมยลวดทสต่้ัิี'

// On a tie the first wins: windows-1252 shares its letters with most of the others.
const candidates: readonly Candidate[] = [
  candidate('windows-1252', latinWest, /\p{Script=Latin}/u),
  candidate('gb18030', hanSimplified, /\p{Script=Han}/u, 2),
  candidate('big5', hanTraditional, /\p{Script=Han}/u, 2),
  candidate('shift_jis', japanese, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, 2),
  candidate('euc-jp', japanese, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, 2),
  candidate('euc-kr', korean, /\p{Script=Hangul}/u, 2),
  candidate('windows-1251', cyrillic, /\p{Script=Cyrillic}/u),
  candidate('koi8-r', cyrillic, /\p{Script=Cyrillic}/u),
  candidate('ibm866', cyrillic, /\p{Script=Cyrillic}/u),
  candidate('windows-1250', latinEast, /\p{Script=Latin}/u),
  candidate('windows-1254', turkish, /\p{Script=Latin}/u),
  candidate('windows-1253', greek, /\p{Script=Greek}/u),
  candidate('windows-1255', hebrew, /\p{Script=Hebrew}/u),
  candidate('windows-1256', arabic, /\p{Script=Arabic}/u),
  candidate('windows-874', thai, /\p{Script=Thai}/u),
]

/** Sample size in bytes. */
const sampleBytes = 6 * 1024

/** The most likely charset of text that is not Unicode. */
export function guessLegacyCharset(bytes: Uint8Array): string {
  const sample = tellingLines(bytes)
  const beyondAscii = sample.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0)
  let best = { charset: 'windows-1252', score: Number.NEGATIVE_INFINITY }
  for (const candidate of candidates) {
    const text = new TextDecoder(candidate.charset).decode(sample)
    const score = scoreText(text, candidate) / beyondAscii
    if (score > best.score + 0.01) best = { charset: candidate.charset, score }
  }
  return best.charset
}

// Lines of pure ASCII carry no information. A line feed is never part of a multi-byte character.
function tellingLines(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const lines: Uint8Array[] = []
  let length = 0
  for (let at = 0; at < buffer.length && length < sampleBytes; ) {
    const found = buffer.indexOf(10, at)
    const end = found < 0 ? buffer.length : found + 1
    const line = buffer.subarray(at, Math.min(end, at + sampleBytes))
    if (line.some((byte) => byte > 0x7f)) {
      lines.push(line)
      length += line.length
    }
    at = end
  }
  return Buffer.concat(lines)
}

function candidate(charset: string, frequent: string, script: RegExp, width: 1 | 2 = 1): Candidate {
  return { charset, frequent: new Set(frequent), script, width }
}

const letter = /\p{L}/u
const usualMark = /[“”„‘’‚«»‹›–—…€°§·©®™£№•、。「」『』（）《》！？：；，～\u00a0\u3000]/
const unlikely = /[\p{Co}\p{Cn}\p{Cc}\uff61-\uff9f]/u

function scoreText(text: string, candidate: Candidate): number {
  const kinds = new Map<string, Kind>()
  const kindOf = (character: string): Kind => {
    const known = kinds.get(character) ?? classify(character, candidate)
    kinds.set(character, known)
    return known
  }
  let score = 0
  let before = kindOf(' ')
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text[at] ?? '')
    if (kind.beyondAscii) score += scoreCharacter(kind, before, kindOf(text[at + 1] ?? ' ')) * candidate.width
    before = kind
  }
  return score
}

/** The classification of a character for one charset, cached per character. */
interface Kind {
  readonly beyondAscii: boolean
  readonly isLetter: boolean
  readonly isLower: boolean
  readonly isUpper: boolean
  readonly inScript: boolean
  readonly isLatin: boolean
  /** Its score in any position. */
  readonly score: number
  /** Whether the score is independent of the neighbours. */
  readonly isFixed: boolean
}

function classify(character: string, { frequent, script, width }: Candidate): Kind {
  const isFrequent = frequent.has(character)
  const isLetter = letter.test(character)
  const inScript = script.test(character)
  const kind = {
    beyondAscii: character > '\x7f',
    isLetter,
    isLower: character !== character.toUpperCase(),
    isUpper: character !== character.toLowerCase(),
    inScript,
    isLatin: inScript && script.test('a'),
  }
  // Many files have a few invalid bytes. Many invalid bytes mean the wrong charset.
  if (character === '\ufffd') return { ...kind, score: -3, isFixed: true }
  if (unlikely.test(character)) return { ...kind, score: -1.5, isFixed: true }
  if (!isLetter && !isFrequent) {
    const isUsual = usualMark.test(character)
    return { ...kind, score: isUsual ? 0.6 : 0, isFixed: isUsual }
  }
  if (!isFrequent && !inScript) return { ...kind, score: -0.7, isFixed: true }
  if (width === 2) return { ...kind, score: isFrequent ? 1 : 0.2, isFixed: true }
  return { ...kind, score: isFrequent ? 1 : 0.1, isFixed: false }
}

// A word keeps to one script, a capital stands at its beginning or among capitals, and a sign within it is a letter of
// another charset. Latin words are ASCII for the most part: three letters in a row that are not belong to another script.
function scoreCharacter(kind: Kind, before: Kind, after: Kind): number {
  if (kind.isFixed) return kind.score
  if (!kind.isLetter && kind.score === 0) return before.isLetter && after.isLetter ? -0.7 : 0
  if (before.isLetter && !before.inScript) return -0.7
  if (kind.isUpper && before.isLower) return -1
  return kind.isLatin && isForeign(before) && isForeign(after) ? -0.3 : kind.score
}

function isForeign(kind: Kind): boolean {
  return kind.beyondAscii && kind.isLetter
}

/** Paths on a keyboard, the alphabet and the digits. A run in one of them, in either direction, is no secret. */
const WALKS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'qazwsxedcrfvtgbyhnujm',
  'zaq12wsxcde34rfvbgt56yhn',
  '147258369',
  '159357',
  '!@#$%^&*()',
  '!"§$%&/()=',
].flatMap((walk) => [walk, reversed(walk)])

/** Words that people choose. With digits, symbols or another of them around they are as common. */
const WORDS = new Set(
  `
  password passwort passwd passwords pass word pword passphrase wachtwoord contrasena contrasenya motdepasse heslo haslo sifre parola parol salasana
  senha losenord kennwort secret geheim secreto segredo privat private access login logon signin user username admin administrator root guest
  master manager system server computer internet network windows microsoft google apple android samsung facebook linkedin twitter youtube amazon
  welcome willkommen bienvenue bienvenido benvenuto welkom witamy hello hallo hola bonjour letmein openme opensesame sesame enter change changeme
  default test testing tester demo temp temporary example sample nothing whatever whocares trustno one ilove iloveyou iloveu loveyou loveme love
  lovely lover mylove teamo tequiero jetaime ichliebedich tiamo kochamcie babygirl baby babyboy honey sweet sweety sweetie angel princess princesa
  prinzessin queen king prince knight sunshine sunny sonne sonnenschein soleil summer sommer winter spring autumn september october november
  december january february march april june july august monday tuesday wednesday thursday friday saturday sunday montag freitag sonntag
  football fussball futbol soccer baseball basketball hockey tennis golf golfer cricket rugby fishing hunting swimming racing runner liverpool
  arsenal chelsea barcelona realmadrid juventus bayern benfica yankees cowboys lakers steelers eagles packers rangers raiders patriots dolphins
  manchester united everton celtic dragon monkey tiger lion panther eagle falcon wolf bear horse dolphin shark snake spider scorpion butterfly
  chicken cheese pepper ginger cookie chocolate schokolade banana orange cherry apples peanut coffee pizza flower flowers rosebud diamond gold
  golden silver platinum crystal emerald rainbow purple yellow black white blue green pink midnight darkness shadow phantom ghost vampire zombie
  angels heaven jesus christ jesuschrist blessed faith hope freedom liberty peace family friend friends forever always remember happy happiness
  lucky smile sexy killer ninja samurai warrior soldier hunter ranger marine captain pirate wizard merlin gandalf frodo aragorn legolas
  starwars startrek skywalker darthvader yoda matrix neo trinity superman batman spiderman ironman hulk wolverine avengers pokemon pikachu
  nintendo playstation xbox minecraft fortnite warcraft counterstrike mario zelda sonic naruto dragonball mickey minnie snoopy garfield scooby
  simpsons cartman metallica nirvana slipknot eminem beatles elvis madonna rockstar guitar music musik player gamer winner champion
  champions mustang ferrari porsche mercedes corvette camaro harley yamaha honda toyota nissan subaru bmw audi volkswagen jaguar
  michael jennifer jessica michelle daniel andrew joshua matthew anthony thomas robert william charlie charles george david james john
  robin richard joseph christopher christian alexander alexandra alexandre nicholas nicole natalie natasha samantha amanda ashley melissa
  elizabeth victoria veronica patricia barbara rebecca danielle stephanie kimberly sebastian benjamin jonathan patrick martin maria anna
  hannah sophie sophia laura sarah lauren rachel andrea angela claudia sandra sabrina daniela carlos antonio alejandro fernando gabriel
  maggie buster jordan hammer thunder lightning storm tornado hurricane phoenix mercury saturn jupiter galaxy universe cosmos apollo
  america england scotland ireland germany deutschland france italia espana brasil canada mexico argentina australia china russia
  london paris berlin newyork chicago boston dallas texas florida california hamburg
  money dollar business company office school college university student teacher doctor engineer
  qwerty qwertz azerty asdf zxcv wasd abc xyz carrel library libraries bibliothek files cloud
  `
    .trim()
    .split(/\s+/),
)

/** Signs that stand for letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
  '€': 'e',
}
const LONGEST_CHECKED = 32
const FEWEST_UNCOMMON = 4
const SHORTEST_DIGITS = 10
const FEWEST_DIFFERENT = 5

/**
 * Whether a password is among those that are tried first: words that people choose with digits and symbols around them, their spellings with lookalikes,
 * runs on a keyboard, repetitions, short numbers, and the names of the account. It is a rule instead of a list, because a list of some
 * thousands misses `Summer2026!` and needs updates.
 */
export function isCommonPassword(password: string, names: readonly string[] = []): boolean {
  const typed = password.normalize('NFC').toLowerCase()
  // A long text of such parts is a passphrase.
  if (typed.length > LONGEST_CHECKED) return new Set(typed).size < FEWEST_DIFFERENT
  const isNumber = /^\d+$/.test(typed) && typed.length < SHORTEST_DIGITS
  if (isNumber || new Set(typed).size < FEWEST_DIFFERENT) return true
  const known = new Set([...WORDS, ...names.flatMap(wordsOf)])
  const shorter = typed.replace(/[^\p{L}]+$/u, '')
  const spellings = shorter === '' ? [typed] : [typed, spelledOut(typed), spelledOut(shorter)]
  return spellings.some((spelling) => isMadeOf(unrepeated(spelling), known))
}

/** Whether little is left of a text without runs, known words, and digits and symbols between them. */
function isMadeOf(text: string, known: ReadonlySet<string>): boolean {
  if (isOneWord(text, known)) return true
  const left = withoutRuns(text)
  const letters = left.replace(/[^\p{L}]/gu, '')
  return left.length < FEWEST_UNCOMMON || letters === ''
    ? left.length < SHORTEST_DIGITS
    : isOneWord(left, known)
}

/** A known word, or two, also backwards, and up to four digits or symbols on either side. */
function isOneWord(text: string, known: ReadonlySet<string>): boolean {
  const core = text.replace(/^[^\p{L}]{0,4}/u, '').replace(/[^\p{L}]{0,6}$/u, '')
  const backwards = reversed(core)
  if (core === '' || known.has(core) || known.has(backwards)) return true
  for (let at = 3; at <= core.length - 3; at += 1) {
    if (known.has(core.slice(0, at)) && known.has(core.slice(at).replace(/^[^\p{L}]/u, ''))) return true
  }
  return false
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('')
}

function spelledOut(text: string): string {
  return text.replace(/[^\p{L}]/gu, (sign) => LOOKALIKES[sign] ?? sign)
}

/** `abcabc` is `abc`. */
function unrepeated(text: string): string {
  return /^(.+?)\1+$/.exec(text)?.[1] ?? text
}

/** Without runs of three or more in a walk. */
function withoutRuns(text: string): string {
  let left = ''
  for (let at = 0; at < text.length; ) {
    const length = runAt(text, at)
    if (length < 3) left += text[at]
    at += length < 3 ? 1 : length
  }
  return left
}

function runAt(text: string, at: number): number {
  let longest = 1
  while (text[at + longest] === text[at] && at + longest < text.length) longest += 1
  for (const walk of WALKS) {
    let length = Math.max(longest, 2)
    while (at + length < text.length && walk.includes(text.slice(at, at + length + 1))) length += 1
    if (length > longest && walk.includes(text.slice(at, at + length))) longest = length
  }
  return longest
}

/** `ann.archer` is known as a whole and by its parts. */
function wordsOf(name: string): string[] {
  const lower = name.normalize('NFC').toLowerCase()
  return [lower, lower.replace(/[^\p{L}]/gu, ''), ...lower.split(/[^\p{L}]+/u)].filter(
    (word) => word.length > 2,
  )
}

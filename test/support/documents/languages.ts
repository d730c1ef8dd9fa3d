/** A sentence or two in each of several languages, as people write them. */
export const languages = {
  chinese: '图书馆在城市中心。我们每天下午去那里看书，也和朋友们讨论历史与科学。新的规定从明年一月开始执行。',
  traditionalChinese:
    '圖書館在城市中心。我們每天下午去那裡看書，也和朋友們討論歷史與科學。新的規定從明年一月開始執行。',
  japanese:
    '図書館は町の中心にあります。私たちは毎日午後にそこで本を読み、友達と歴史や科学について話します。',
  korean:
    '도서관은 도시 한가운데에 있습니다. 우리는 매일 오후 그곳에서 책을 읽고 친구들과 역사와 과학에 대해 이야기합니다.',
  german:
    'Die Bücherei liegt mitten in der Stadt. Wir gehen täglich hin, lesen Bücher und sprechen über Geschichte. Grüße!',
  french:
    'La bibliothèque est tout près de la rivière. Où êtes-vous allés cet été ? À bientôt, garçon, dit-elle.',
  russian:
    'Библиотека находится в центре города. Мы каждый день читаем там книги и говорим с друзьями об истории.',
  arabic:
    'تقع المكتبة في وسط المدينة. نذهب إليها كل يوم بعد الظهر لنقرأ الكتب ونتحدث مع الأصدقاء عن التاريخ.',
  polish:
    'Biblioteka znajduje się w środku miasta. Codziennie czytamy tam książki i rozmawiamy z przyjaciółmi o historii.',
  turkish:
    'Kütüphane şehrin ortasındadır. Her gün öğleden sonra orada kitap okuyoruz ve arkadaşlarımızla konuşuyoruz.',
  greek: 'Η βιβλιοθήκη βρίσκεται στο κέντρο της πόλης. Κάθε μέρα διαβάζουμε εκεί βιβλία.',
  hebrew: 'הספרייה נמצאת במרכז העיר. אנחנו קוראים שם ספרים כל יום אחר הצהריים.',
  thai: 'ห้องสมุดอยู่ใจกลางเมือง เราอ่านหนังสือที่นั่นทุกวัน',
} as const

/** All of them, a line each. */
export const allLanguages = Object.values(languages).join('\n')

const encoders = new Map<string, Map<string, Buffer>>()

/** Text in a legacy charset, by turning its decoder around. Throws on a character it does not have. */
export function encodeAs(text: string, charset: string): Buffer {
  const encoder = encoders.get(charset) ?? makeEncoder(charset)
  encoders.set(charset, encoder)
  const pieces = Array.from(text, (character) => {
    const bytes = encoder.get(character)
    if (bytes === undefined) throw new Error(`${charset} has no ${character}`)
    return bytes
  })
  return Buffer.concat(pieces)
}

export function utf16(text: string, order: 'le' | 'be'): Buffer {
  const bytes = Buffer.from(text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

function makeEncoder(charset: string): Map<string, Buffer> {
  const decoder = new TextDecoder(charset, { fatal: true })
  const encoder = new Map<string, Buffer>()
  const learn = (bytes: Buffer) => {
    try {
      const character = decoder.decode(bytes)
      if (Array.from(character).length === 1 && !encoder.has(character)) encoder.set(character, bytes)
    } catch {
      // These bytes are no character.
    }
  }
  for (let byte = 0; byte < 256; byte += 1) learn(Buffer.of(byte))
  if (/^(gb|big5|shift|euc)/.test(charset)) {
    for (let first = 0x81; first < 0xff; first += 1) {
      for (let second = 0x40; second < 0xff; second += 1) learn(Buffer.of(first, second))
    }
  }
  return encoder
}

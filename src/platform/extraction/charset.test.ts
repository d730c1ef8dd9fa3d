import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAs, languages, utf16 } from '../../../test/support/documents/languages.ts'
import { decodeText } from './charset.ts'

type Language = keyof typeof languages

// Made by iconv, so that neither our decoder nor the one of Node has a say in what is right.
const foreign: [name: string, language: Language, charset: string, base64: string][] = [
  [
    'GB18030',
    'chinese',
    'gb18030',
    'zbzK6bnd1Nqzx8rQ1tDQxKGjztLDx8O/zOzPws7nyKXEx8Dvv7TK6aOs0rK6zcXz09HDx8zWwtvA+sq30+u/xtGnoaPQwrXEuea2qLTTw/fE6tK71MK/qsq81rTQ0KGj',
  ],
  [
    'GBK',
    'chinese',
    'gb18030',
    'zbzK6bnd1Nqzx8rQ1tDQxKGjztLDx8O/zOzPws7nyKXEx8Dvv7TK6aOs0rK6zcXz09HDx8zWwtvA+sq30+u/xtGnoaPQwrXEuea2qLTTw/fE6tK71MK/qsq81rTQ0KGj',
  ],
  [
    'BIG5',
    'traditionalChinese',
    'big5',
    'uc+u0cBdpmKrsKWrpKSk36FDp9qtzKhDpNGkVaTIpWiourjMrN2u0aFBpF2pTapCpM2tzLBRvde++qV2u1Cs7L7HoUO3c6q6s1epd7FxqfqmfqRApOu2falssPWm5qFD',
  ],
  [
    'SHIFT_JIS',
    'japanese',
    'shift_jis',
    'kH2PkYrZgs2SrILMkoaQU4LJgqCC6ILcgreBQo6Egr2Cv4LNloiT+ozfjOOCyYK7grGCxZZ7gvCTx4LdgUGXRpJCgsaX8I5qguKJyIp3gsmCwoKigsSYYoK1gtyCt4FC',
  ],
  [
    'EUC-JP',
    'japanese',
    'euc-jp',
    'v9698bTbpM/ErqTOw+a/tKTLpKKk6qTepLmho7vkpL+kwaTPy+jG/LjhuOWky6S9pLOkx8vcpPLGyaTfoaLNp8OjpMjO8rvLpOSyyrPYpMukxKSkpMbPw6S3pN6kuaGj',
  ],
  [
    'ISO-2022-JP',
    'japanese',
    'iso-2022-jp',
    'GyRCP149cTRbJE9ELiROQ2Y/NCRLJCIkaiReJDkhIztkJD8kQSRPS2hGfDhhOGUkSyQ9JDMkR0tcJHJGSSRfISJNJ0MjJEhOcjtLJGQySjNYJEskRCQkJEZPQyQ3JF4kOSEjGyhC',
  ],
  [
    'EUC-KR',
    'korean',
    'euc-kr',
    'tbW8rbD8wLogtbW9wyDH0bChv+61pb+hIMDWvcC0z7TZLiC/7LiutMIguMXAzyC/wMjEILHXsPe/obytIMOlwLsgwNCw7SDEo7G4temw+iC/qrvnv80gsPrH0L+hILTrx9ggwMy+37Hix9W0z7TZLg==',
  ],
  [
    'CP1252',
    'german',
    'windows-1252',
    'RGllIEL8Y2hlcmVpIGxpZWd0IG1pdHRlbiBpbiBkZXIgU3RhZHQuIFdpciBnZWhlbiB05GdsaWNoIGhpbiwgbGVzZW4gQvxjaGVyIHVuZCBzcHJlY2hlbiD8YmVyIEdlc2NoaWNodGUuIEdy/N9lIQ==',
  ],
  [
    'ISO-8859-1',
    'german',
    'windows-1252',
    'RGllIEL8Y2hlcmVpIGxpZWd0IG1pdHRlbiBpbiBkZXIgU3RhZHQuIFdpciBnZWhlbiB05GdsaWNoIGhpbiwgbGVzZW4gQvxjaGVyIHVuZCBzcHJlY2hlbiD8YmVyIEdlc2NoaWNodGUuIEdy/N9lIQ==',
  ],
  [
    'CP1252',
    'french',
    'windows-1252',
    'TGEgYmlibGlvdGjocXVlIGVzdCB0b3V0IHBy6HMgZGUgbGEgcml2aehyZS4gT/kg6nRlcy12b3VzIGFsbOlzIGNldCDpdOkgPyDAIGJpZW509HQsIGdhcudvbiwgZGl0LWVsbGUu',
  ],
  [
    'CP1251',
    'russian',
    'windows-1251',
    'wejh6+ju8uXq4CDt4PXu5Ojy8f8g4iD25e3y8OUg4+7w7uTgLiDM+yDq4Obk++kg5OXt/CD36PLg5ewg8uDsIOrt6OPoIOgg4+7i7vDo7CDxIOTw8+f8/+zoIO7hIOjx8u7w6Ogu',
  ],
  [
    'KOI8-R',
    'russian',
    'koi8-r',
    '4snCzMnP1MXLwSDOwcjPxMnU09Eg1yDDxc7U0sUgx8/Sz8TBLiDt2SDLwdbE2cogxMXO2CDeydTBxc0g1MHNIMvOycfJIMkgx8/Xz9LJzSDTIMTS1drY0c3JIM/CIMnT1M/Sycku',
  ],
  [
    'CP1256',
    'arabic',
    'windows-1256',
    'yt7aIMfh49/KyMkg3e0g5tPYIMfh48/t5MkuIOTQ5cggxeHt5ccg3+Eg7ebjIMjazyDH4dnl0SDh5N7RwyDH4d/KyCDm5MrNz8sg49ogx+HD1c/ex8Eg2uQgx+HKx9Htzi4=',
  ],
  [
    'CP1250',
    'polish',
    'windows-1250',
    'QmlibGlvdGVrYSB6bmFqZHVqZSBzaeogdyCccm9ka3UgbWlhc3RhLiBDb2R6aWVubmllIGN6eXRhbXkgdGFtIGtzabm/a2kgaSByb3ptYXdpYW15IHogcHJ6eWphY2nzs21pIG8gaGlzdG9yaWku',
  ],
  [
    'CP1254',
    'turkish',
    'windows-1254',
    'S/x0/HBoYW5lIP5laHJpbiBvcnRhc/1uZGFk/XIuIEhlciBn/G4g9vBsZWRlbiBzb25yYSBvcmFkYSBraXRhcCBva3V5b3J1eiB2ZSBhcmthZGH+bGFy/W39emxhIGtvbnX+dXlvcnV6Lg==',
  ],
  [
    'CP1253',
    'greek',
    'windows-1253',
    'xyDi6eLr6e/o3urnIOLx3/Pq5fTh6SDz9O8g6t3t9PHvIPTn8iDw/Ovn8i4gytzo5SDs3fHhIOTp4eLc5u/17OUg5erl3yDi6eLr3+Eu',
  ],
  [
    'CP1255',
    'hebrew',
    'windows-1255',
    '5PH0+Onp5CDw7vbg+iDh7vjr5iDk8un4LiDg8Ofw5SD35fjg6e0g+e0g8fT46e0g6+wg6eXtIODn+CDk9uT46entLg==',
  ],
  ['CP874', 'thai', 'windows-874', 'y+nNp8rB2LTNwtno46ihxdKn4MHXzacg4MPSzejSucu50afK18231ei50ei5t9ihx9G5'],
]

describe('decoding text', () => {
  for (const [name, language, charset, base64] of foreign) {
    it(`reads ${language} in ${name}`, () => {
      assert.deepEqual(decodeText(Buffer.from(base64, 'base64')), { text: languages[language], charset })
    })
  }

  for (const [language, text] of Object.entries(languages)) {
    it(`reads ${language} in Unicode, whether or not it says so`, () => {
      const utf8 = Buffer.from(text)
      assert.deepEqual(decodeText(utf8), { text, charset: 'utf-8' })
      assert.equal(decodeText(Buffer.concat([Buffer.from('\ufeff'), utf8]))?.text, text)
      for (const order of ['le', 'be'] as const) {
        assert.deepEqual(decodeText(utf16(`\ufeff${text}`, order)), { text, charset: `utf-16${order}` })
        assert.deepEqual(decodeText(utf16(`${text}\n`, order)), {
          text: `${text}\n`,
          charset: `utf-16${order}`,
        })
      }
    })
  }

  it('reads UTF-32 with a byte order mark', () => {
    const codes = Array.from(`\ufeff${languages.chinese}😀`, (character) => character.codePointAt(0) ?? 0)
    const bytes = Buffer.alloc(codes.length * 4)
    codes.forEach((code, index) => bytes.writeUInt32LE(code, index * 4))
    assert.equal(decodeText(bytes)?.text, `${languages.chinese}😀`)
  })

  const short: [text: string, charset: string][] = [
    ['你好\n', 'gb18030'],
    ['姓名,年龄\n张三,20\n', 'gb18030'],
    ['你好世界', 'big5'],
    ['こんにちは\n', 'shift_jis'],
    ['안녕하세요\n', 'euc-kr'],
    ['Привет\n', 'windows-1251'],
    ['Grüße\n', 'windows-1252'],
    ['Müller;Köln;½ cup\n', 'windows-1252'],
    ['It’s a “café” – isn’t it…', 'windows-1252'],
  ]
  for (const [text, charset] of short) {
    it(`tells ${charset} from the few letters of ${JSON.stringify(text)}`, () => {
      assert.deepEqual(decodeText(encodeAs(text, charset)), { text, charset })
    })
  }

  it('detects a charset by letters deep in an ASCII file', () => {
    const text = `${'int main(void) { return 0; }\n'.repeat(20_000)}/* ${languages.japanese} */\n`
    assert.equal(decodeText(encodeAs(text, 'shift_jis'))?.charset, 'shift_jis')
  })

  it('accepts a character truncated at the end', () => {
    const bytes = Buffer.from(languages.chinese)
    const decoded = decodeText(bytes.subarray(0, bytes.length - 1), { cut: true })
    assert.equal(decoded?.charset, 'utf-8')
    assert.ok(decoded.text.startsWith(languages.chinese.slice(0, -1)))
  })

  it('tolerates one invalid byte in a long file', () => {
    const bytes = Buffer.concat([
      Buffer.from(languages.chinese),
      Buffer.of(0xff),
      Buffer.from(languages.russian),
    ])
    assert.deepEqual(decodeText(bytes)?.charset, 'utf-8')
  })

  it('uses the declared charset unless the bytes are invalid in it', () => {
    const bytes = Buffer.of(0xe4, 0xf6) // "дц" in windows-1251, "äö" in windows-1252
    assert.equal(decodeText(bytes, { declared: 'windows-1251' })?.text, 'дц')
    assert.equal(decodeText(Buffer.from('äö'), { declared: 'windows-1251' })?.text, 'äö')
    assert.equal(decodeText(bytes, { declared: 'no-such-charset' })?.charset, 'windows-1252')
  })

  it('rejects images, programs and noise', () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000010000000100806000000', 'hex')
    const elf = Buffer.from('7f454c4602010100000000000000000003003e0001000000', 'hex')
    const noise = Buffer.from(
      Array.from({ length: 4096 }, (_, index) => (index * index * 31 + index * 7) & 0xff),
    )
    for (const bytes of [png, elf, noise, Buffer.alloc(100)]) assert.equal(decodeText(bytes), undefined)
  })

  it('decodes empty input to empty text', () => {
    assert.equal(decodeText(Buffer.alloc(0))?.text, '')
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCommonPassword } from './common-passwords.ts'

const common = [
  'password',
  'Password1',
  'P@ssw0rd',
  'passw0rd123',
  'password!',
  'PASSWORD2026',
  'drowssap',
  'passwordpassword',
  '12345678',
  '123456789',
  '1234567890',
  '87654321',
  '11111111',
  '00000000',
  '11223344',
  '12121212',
  '19870412',
  'qwertyui',
  'qwerty123',
  'Qwertz12345',
  'asdfasdf',
  'asdfghjk',
  'zxcvbnm1',
  'azerty123',
  '1q2w3e4r',
  'q1w2e3r4',
  '1qaz2wsx',
  'zaq12wsx',
  'abcd1234',
  'abc12345',
  'abcdefgh',
  '!@#$%^&*',
  'aaaaaaaa',
  'abcabcabc',
  'qazwsxedc',
  'iloveyou',
  'iloveyou2',
  'ilovejesus',
  'letmein1',
  'welcome1',
  'Willkommen1',
  'sunshine',
  'Summer2026!',
  'Sommer2026',
  'football1',
  'baseball',
  'liverpool1',
  'superman',
  'starwars',
  'pokemon123',
  'trustno1',
  'changeme',
  'Admin123!',
  'princess1',
  'michael1',
  'jennifer',
  'dragon123',
  'monkey12',
  'master123',
  'test1234',
  'testtest',
  'hello123',
  'administrator',
  'Carrel2026',
  'geheim123',
  'contrasena1',
  'йцукенгш',
]
const uncommon = [
  'a long password',
  'correct horse battery',
  'a new password',
  'another password',
  'tr0ub4dor&3',
  'xk7-Quva-91',
  'blauer Regenschirm',
  'monkeys eat my socks',
  'Tv9!mq2#',
  '4029584710293',
  'vier Katzen am Fluss',
  'kgjwhzqt',
  'пять котов у реки',
  '長い合言葉をひとつ',
  'secret of ann',
  'fjk29ajw',
]

describe('a common password', () => {
  for (const password of common) it(`is ${password}`, () => assert.ok(isCommonPassword(password)))
  for (const password of uncommon) it(`is not ${password}`, () => assert.ok(!isCommonPassword(password)))

  it('is a name of the account, whatever is around it', () => {
    const names = ['ann.archer', 'Ann Árcher']
    for (const password of ['ann.archer', 'AnnArcher1', 'archer2026', '4rcher!!', 'rehcra12', 'Árcher99'])
      assert.ok(isCommonPassword(password, names), password)
    assert.ok(!isCommonPassword('archery is for bob', names))
  })

  it('is found in a millisecond, however long', () => {
    assert.ok(isCommonPassword('a'.repeat(1024)))
    assert.ok(!isCommonPassword('abcdefg'.repeat(146)))
  })
})

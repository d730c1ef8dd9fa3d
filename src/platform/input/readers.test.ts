import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../responses/refusal.ts'
import { Fields } from './fields.ts'
import {
  flag,
  integer,
  list,
  map,
  oneOf,
  optional,
  optionalText,
  type Reader,
  rawText,
  rawValue,
  required,
  text,
} from './readers.ts'

const invalid = Symbol('x invalid.')

/** The result of a reader for a JSON value sent as `x`; `undefined` for not sent. */
function read(reader: Reader<unknown>, sent: unknown): unknown {
  try {
    return reader(sent === undefined ? Fields.none : Fields.fromJson({ x: sent }), 'x')
  } catch (error) {
    assert(error instanceof Refusal)
    assert.equal(error.status, 400)
    assert.deepEqual(error.body, { error_msg: 'x invalid.' })
    return invalid
  }
}

const cases: Record<string, [reader: Reader<unknown>, ...readings: [sent: unknown, value: unknown][]]> = {
  text: [
    text(),
    [undefined, ''],
    ['', ''],
    ['a', 'a'],
    [5, '5'],
    [null, ''],
    ['a\0', invalid],
    ['\ud800', invalid],
    [{}, invalid],
  ],
  optionalText: [
    optionalText(),
    [undefined, undefined],
    ['', ''],
    ['ä', 'ä'],
    ['\0', invalid],
    ['\udcff', invalid],
    [{}, invalid],
  ],
  required: [
    required(),
    [undefined, invalid],
    ['', invalid],
    ['a', 'a'],
    [0, '0'],
    ['\udcff', invalid],
    [['a', 'b'], 'b'],
  ],
  rawText: [rawText(), [undefined, undefined], ['a\0', 'a\0'], ['\udcff', '\udcff']],
  rawValue: [rawValue(), [undefined, undefined], [7, 7], [[1], [1]]],
  flag: [
    flag(),
    [undefined, false],
    ['', false],
    ...['t', 'T', 'true', 'True', 'TRUE', '1', true, 1].map((sent): [unknown, unknown] => [sent, true]),
    ...['f', 'F', 'false', 'False', '0', false, 0].map((sent): [unknown, unknown] => [sent, false]),
    ...['yes', 'on', '2', ' 1', 'tru', {}].map((sent): [unknown, unknown] => [sent, invalid]),
  ],
  'flag, true by default': [
    flag({ default: true }),
    [undefined, true],
    ['', true],
    ['0', false],
    ['x', invalid],
  ],
  'lenient flag': [flag({ default: true, lenient: true }), ['x', true], [{}, true], ['f', false]],
  integer: [
    integer({ min: -3, max: 100 }),
    ['5', 5],
    [5, 5],
    ['-3', -3],
    ['+7', 7],
    ['007', 7],
    ['100', 100],
    ...[
      undefined,
      '',
      '-4',
      '101',
      '1.5',
      '1e1',
      '0x10',
      ' 5',
      'a',
      '5a',
      1.5,
      '99999999999999999999',
      {},
    ].map((sent): [unknown, unknown] => [sent, invalid]),
  ],
  'integer with a default': [
    integer({ default: 25, min: 1 }),
    [undefined, 25],
    ['', 25],
    ['3', 3],
    ['0', invalid],
    ['a', invalid],
  ],
  'lenient integer': [integer({ default: 25, min: 1, lenient: true }), ['0', 25], ['a', 25], ['9', 9]],
  oneOf: [
    oneOf(['r', 'rw']),
    ['r', 'r'],
    ['rw', 'rw'],
    ['R', invalid],
    ['', invalid],
    [undefined, invalid],
    ['constructor', invalid],
  ],
  'oneOf with a default': [oneOf(['r', 'rw'], { default: 'r' }), [undefined, 'r'], ['', 'r'], ['x', invalid]],
  list: [
    list(),
    [undefined, []],
    ['a', ['a']],
    [
      ['a', 'b', 3],
      ['a', 'b', '3'],
    ],
    [[], []],
    [['a', { b: 1 }], invalid],
    [['a', null], invalid],
    [{}, invalid],
    [['a', '\0'], invalid],
    [['\ud800'], invalid],
  ],
  'list that must not be empty': [
    list({ nonEmpty: true }),
    [undefined, invalid],
    [[], invalid],
    [['a'], ['a']],
  ],
  optional: [optional(integer()), [undefined, undefined], [null, undefined], ['4', 4], ['a', invalid]],
  map: [
    map(required(), (sent) => (sent === 'no' ? undefined : sent.length)),
    ['abc', 3],
    ['no', invalid],
    ['', invalid],
  ],
}

for (const [name, [reader, ...readings]] of Object.entries(cases)) {
  describe(`the reader ${name}`, () => {
    for (const [sent, value] of readings) {
      it(`${value === invalid ? 'refuses' : `reads ${JSON.stringify(value)} from`} ${JSON.stringify(sent)}`, () => {
        assert.deepEqual(read(reader, sent), value)
      })
    }
  })
}

describe('a reader with a message', () => {
  const message = 'Say it properly.'
  const readers: Reader<unknown>[] = [
    required(message),
    flag({ message }),
    integer({ message }),
    oneOf(['a'], message),
    oneOf(['a'], { message }),
    list({ message }),
    text(message),
    optionalText(message),
    map(rawText(), () => undefined, message),
  ]
  it('refuses with it', () => {
    for (const reader of readers) {
      assert.throws(
        () => reader(Fields.of({ x: '\0' }), 'x'),
        (error) =>
          error instanceof Refusal && JSON.stringify(error.body) === JSON.stringify({ error_msg: message }),
      )
    }
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fields, maxFields } from './fields.ts'

describe('fields of a query', () => {
  it('give the last of repeated values as text and all of them as a list', () => {
    const fields = Fields.fromQuery('p=/a&p=/b&q=')
    assert.equal(fields.text('p'), '/b')
    assert.deepEqual(fields.all('p'), ['/a', '/b'])
    assert.equal(fields.text('q'), '')
    assert.equal(fields.has('q'), true)
    assert.equal(fields.has('r'), false)
    assert.deepEqual(fields.all('r'), [])
  })

  it('hold only what was sent, whatever it is called', () => {
    const fields = Fields.fromQuery('__proto__=x&constructor=y')
    assert.equal(fields.text('__proto__'), 'x')
    assert.equal(fields.text('constructor'), 'y')
    assert.equal(Fields.fromQuery('a=1').text('constructor'), undefined)
    assert.equal(Fields.fromQuery('a=1').has('toString'), false)
  })
})

describe('fields of a JSON body', () => {
  const fields = Fields.fromJson(
    JSON.parse(
      `{"text": "a", "number": 12.5, "yes": true, "no": false, "nothing": null, "list": ["a", 1, true],
        "none": [], "object": {"a": 1}, "__proto__": {"polluted": true}, "constructor": "c"}`,
    ) as object,
  )
  const cases: [name: string, text: string | undefined, all: string[], has: boolean][] = [
    ['text', 'a', ['a'], true],
    ['number', '12.5', ['12.5'], true],
    ['yes', 'true', ['true'], true],
    ['no', 'false', ['false'], true],
    ['nothing', undefined, [], false],
    ['list', 'true', ['a', '1', 'true'], true],
    ['none', undefined, [], false],
    ['object', undefined, [], true],
    ['constructor', 'c', ['c'], true],
    ['missing', undefined, [], false],
  ]
  for (const [name, text, all, has] of cases) {
    it(`read "${name}" as forms are read`, () => {
      assert.equal(fields.text(name), text)
      assert.deepEqual(fields.all(name), all)
      assert.equal(fields.has(name), has)
    })
  }

  it('leave nested values as they were sent', () => {
    assert.deepEqual(fields.raw('object'), { a: 1 })
    assert.deepEqual(fields.raw('__proto__'), { polluted: true })
    assert.equal('polluted' in {}, false)
  })

  it('have no names when the body is an array', () => {
    const list = Fields.fromJson([{ name: 'a' }])
    assert.deepEqual(list.names(), [])
    assert.deepEqual(list.json, [{ name: 'a' }])
  })
})

describe('fields of an urlencoded body', () => {
  it('may be as many as a batch call needs, and not many more', () => {
    const body = (count: number) => Buffer.from(Array.from({ length: count }, (_, n) => `k${n}=v`).join('&'))
    assert.equal(Fields.fromForm(body(maxFields))?.names().length, maxFields)
    assert.equal(Fields.fromForm(body(maxFields + 1)), undefined)
  })
})

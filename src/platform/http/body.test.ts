import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxFields } from '../input/fields.ts'
import { Refusal } from '../responses/refusal.ts'
import { parseBody } from './body.ts'

async function detailOf(
  contentType: string | undefined,
  body: string | Buffer,
): Promise<[status: number, detail: string]> {
  try {
    await parseBody(contentType, Buffer.from(body))
  } catch (error) {
    assert(error instanceof Refusal)
    return [error.status, (error.body as { detail: string }).detail]
  }
  assert.fail('the body was taken')
}

describe('a body', () => {
  const multipart = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nNötes 1\r\n--b--\r\n'
  const bodies: [contentType: string | undefined, body: string][] = [
    ['application/x-www-form-urlencoded', 'name=N%C3%B6tes+1'],
    ['application/x-www-form-urlencoded; charset=UTF-8', 'name=Nötes%201'],
    ['APPLICATION/JSON', '{"name": "Nötes 1"}'],
    ['application/json;charset=utf-8', ' {"name": "x", "name": "N\\u00f6tes 1"} '],
    ['multipart/form-data; boundary=b', multipart],
    ['Multipart/Form-Data; boundary="b"', multipart],
    [undefined, 'name=N%C3%B6tes+1'],
    ['', 'name=N%C3%B6tes+1'],
  ]
  for (const [contentType, body] of bodies) {
    it(`is read as ${contentType ?? 'a form when it has no type'}`, async () => {
      assert.equal((await parseBody(contentType, Buffer.from(body))).text('name'), 'Nötes 1')
    })
  }

  for (const contentType of [undefined, 'application/json', 'multipart/form-data', 'text/plain', 'x', ';;']) {
    it(`of no bytes is fine as ${contentType ?? 'no type'}`, async () => {
      assert.deepEqual((await parseBody(contentType, Buffer.alloc(0))).names(), [])
    })
  }

  for (const body of ['{"name": "x"}', '["a=b"]', 'just words', '\0=\n', '=x']) {
    it(`without a type that looks like no form names nothing: ${JSON.stringify(body)}`, async () => {
      assert.deepEqual((await parseBody(undefined, Buffer.from(body))).names(), [])
    })
  }

  for (const body of [
    '{',
    '{"a": }',
    'name=x',
    '"text"',
    '12',
    'null',
    'true',
    '{} x',
    '[1,]',
    Buffer.from([0x22, 0xff, 0x22]),
  ]) {
    it(`of JSON that is none is refused: ${body.toString()}`, async () => {
      const [status, detail] = await detailOf('application/json', body)
      assert.equal(status, 400)
      assert.match(detail, /^JSON parse error - ./)
    })
  }

  for (const contentType of [
    'text/plain',
    'application/xml',
    'application/jsonx',
    'a"b',
    'multipart/mixed; boundary=b',
  ]) {
    it(`of type ${contentType} is refused`, async () => {
      assert.deepEqual(await detailOf(contentType, 'x'), [
        415,
        `Unsupported media type "${contentType}" in request.`,
      ])
    })
  }

  it('with more names than any call needs is refused', async () => {
    const form = Array.from({ length: maxFields + 1 }, () => 'a').join('&')
    assert.deepEqual(await detailOf('application/x-www-form-urlencoded', form), [
      400,
      'Too many fields in request.',
    ])
  })

  it('of JSON may be nested, but not without end', async () => {
    const nested = (open: string, close: string, depth: number) =>
      `${open.repeat(depth)}1${close.repeat(depth)}`
    assert.equal(
      Array.isArray((await parseBody('application/json', Buffer.from(nested('[', ']', 100)))).json),
      true,
    )
    for (const body of [nested('[', ']', 101), nested('{"a":', '}', 101), nested('[', ']', 500_000)]) {
      assert.deepEqual(await detailOf('application/json', body), [
        400,
        'JSON parse error - the value is nested too deeply',
      ])
    }
    const brackets = JSON.stringify({ name: `${'['.repeat(500)}"\\`, [`"${'{'.repeat(500)}`]: 1 })
    assert.equal((await parseBody('application/json', Buffer.from(brackets))).names().length, 2)
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JsonRefused, parseOutsideJson } from '../../src/base/json.ts'
import { parseBody, parseMultipart } from '../../src/platform/http/body.ts'
import { ChunkedDecoder } from '../../src/platform/http/fast/chunked-decoder.ts'
import { ProtocolError } from '../../src/platform/http/protocol-error.ts'
import { Fields } from '../../src/platform/input/fields.ts'
import { decodePairs } from '../../src/platform/input/form-decoding.ts'
import { MultipartStream } from '../../src/platform/input/multipart-stream.ts'
import { selectRanges } from '../../src/platform/representations/range-header.ts'
import { Refusal } from '../../src/platform/responses/refusal.ts'
import { type Chance, fuzz, outcome } from './fuzz.ts'

describe('a random chunked body', () => {
  const decode = (pieces: readonly Buffer[]) => {
    const decoder = new ChunkedDecoder()
    const body: Buffer[] = []
    let used = 0
    for (const piece of pieces) {
      if (decoder.isDone) break
      // The decoder overwrites its input.
      used += decoder.feed(Buffer.from(piece), (bytes) => body.push(Buffer.from(bytes)))
    }
    return { body: Buffer.concat(body).toString('latin1'), used, isDone: decoder.isDone }
  }
  const encode = (chance: Chance, body: Buffer) => {
    const chunks = chance.pieces(body).map((piece) => {
      const extension = chance.is(0.2) ? ';a=b;c="d \\" e"' : ''
      return Buffer.concat([
        Buffer.from(`${piece.length.toString(16)}${extension}\r\n`),
        piece,
        Buffer.from('\r\n'),
      ])
    })
    return Buffer.concat([...chunks, Buffer.from(`0\r\n${chance.is(0.2) ? 'X-A: b\r\n' : ''}\r\n`)])
  }
  const tokens = ['\r\n', '\n', '\r', '0\r\n\r\n', 'ffffffffffff\r\n', ';', '"', '\\', '0', 'g', ' ', '\0']

  it('is decoded to the original or rejected, for every segmentation', async (t) => {
    await fuzz(t, async (chance) => {
      const body = chance.bytes(300)
      const encoded = encode(chance, body)
      assert.deepEqual(decode(chance.pieces(encoded)), {
        body: body.toString('latin1'),
        used: encoded.length,
        isDone: true,
      })
      const mutated = chance.mutate(encoded, tokens)
      const whole = await outcome(() => decode([mutated]), [ProtocolError])
      const parts = await outcome(() => decode(chance.pieces(mutated)), [ProtocolError])
      assert.deepEqual(parts, whole)
    })
  })
})

describe('a random multipart form', () => {
  class Malformed extends Error {}
  interface Part {
    readonly name: string
    readonly filename: string | undefined
    readonly content: string
  }
  const make = (chance: Chance): Part[] =>
    chance.many(4, () => ({
      name: chance.one(['a', 'file', 'a b', 'ä', '__proto__']),
      filename: chance.is(0.5) ? chance.one(['', 'x.txt', 'ü".bin', 'a\\b']) : undefined,
      content: chance.one(['', '\r\n', '-', '\r\n--b', 'x\r\n--', chance.bytes(50).toString('latin1')]),
    }))
  const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`
  const encode = (parts: readonly Part[]) =>
    Buffer.concat([
      ...parts.map(({ name, filename, content }) => {
        const file = filename === undefined ? '' : `; filename=${quoted(filename)}`
        const head = `--b0\r\nContent-Disposition: form-data; name=${quoted(name)}${file}\r\n\r\n`
        return Buffer.concat([Buffer.from(head), Buffer.from(content, 'latin1'), Buffer.from('\r\n')])
      }),
      Buffer.from('--b0--\r\n'),
    ])
  const stream = async (pieces: Buffer[]): Promise<Part[]> => {
    const waiting = [...pieces]
    const form = new MultipartStream(() => waiting.shift(), 'b0', {
      malformed: (reason) => new Malformed(reason),
      maxParts: 20,
    })
    const parts: Part[] = []
    for (let part = await form.next(); part !== undefined; part = await form.next()) {
      const bytes: Buffer[] = []
      for await (const piece of part.content) bytes.push(piece)
      const { name, filename } = part
      parts.push({ name, filename, content: Buffer.concat(bytes).toString('latin1') })
    }
    return parts
  }
  const whole = async (bytes: Buffer): Promise<Part[]> =>
    (await parseMultipart('multipart/form-data; boundary=b0', bytes, 20)).map(([name, value]) =>
      typeof value === 'string'
        ? { name, filename: undefined, content: value }
        : { name, filename: value.filename, content: value.bytes.toString('latin1') },
    )
  const tokens = [
    '\r\n',
    '\n',
    '--b0',
    '--b0--',
    '\r\n\r\n',
    '"',
    ';',
    'Content-Disposition: form-data; name=x',
    '\0',
  ]

  it('is decoded to the original or rejected, for every segmentation', async (t) => {
    await fuzz(t, async (chance) => {
      const parts = make(chance)
      const encoded = encode(parts)
      assert.deepEqual(await stream(chance.pieces(encoded)), parts)
      const read = await whole(encoded)
      assert.deepEqual(
        read.map(({ name, filename }) => [name, filename]),
        parts.map(({ name, filename }) => [name, filename]),
      )
      const mutated = chance.mutate(encoded, tokens)
      const atOnce = await outcome(() => stream([mutated]), [Malformed])
      assert.deepEqual(await outcome(() => stream(chance.pieces(mutated)), [Malformed]), atOnce)
      await outcome(() => whole(mutated), [Refusal])
    })
  })
})

describe('random JSON', () => {
  const value = (chance: Chance, depth: number): unknown => {
    switch (chance.below(depth === 0 ? 4 : 6)) {
      case 0:
        return chance.one([0, -1, 1.5, 1e300, 123456789])
      case 1:
        return chance.one([null, true, false])
      case 2:
      case 3:
        return chance.one(['', 'a', '"\\', '[{', 'ä😀', '\ud800', '\u0000'])
      case 4:
        return chance.many(4, () => value(chance, depth - 1))
      default:
        return Object.fromEntries(
          chance.many(4, () => [chance.one(['a', 'b', '"', '__proto__', '']), value(chance, depth - 1)]),
        )
    }
  }
  const depthOf = (of: unknown): number =>
    typeof of === 'object' && of !== null ? 1 + Math.max(0, ...Object.values(of).map(depthOf)) : 0
  const tokens = ['[', ']', '{', '}', '"', '\\', ',', ':', '[[[[[[[[[[', '\xff', 'null', '1e999', '\\u00']

  it('is parsed like JSON.parse within the limits, and rejected beyond them', async (t) => {
    await fuzz(t, async (chance) => {
      const made = value(chance, 5)
      const encoded = Buffer.from(JSON.stringify(made))
      assert.equal(JSON.stringify(parseOutsideJson(encoded)), String(encoded))
      const mutated = chance.mutate(encoded, tokens)
      const limits = { depth: 4 }
      const parsed = await outcome(() => parseOutsideJson(mutated, limits), [JsonRefused])
      const plain = await outcome(
        () =>
          JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(mutated)) as unknown,
        [Error],
      )
      if ('value' in parsed) assert.deepEqual(parsed, plain)
      else if ('value' in plain)
        assert.ok(depthOf(plain.value) > limits.depth, `${String(mutated)} was refused: ${parsed.refused}`)
      assert.deepEqual(
        'value' in (await outcome(() => parseOutsideJson(String(mutated), limits), [JsonRefused])),
        'value' in
          (await outcome(() => parseOutsideJson(Buffer.from(String(mutated)), limits), [JsonRefused])),
      )
      await outcome(() => parseBody('application/json', mutated), [Refusal])
    })
  })
})

describe('a random form', () => {
  const tokens = ['&', '=', '+', '%', '%e4', '%00', '%zz', '%25', '\xff', '&&', '==']

  it('is decoded to the original, and never fails', async (t) => {
    await fuzz(t, async (chance) => {
      const texts = ['', 'a', 'ä', '&=', '+ %', '😀', '__proto__', '%41']
      const pairs = chance.many(6, () => [chance.one(texts), chance.one(texts)] as const)
      const encoded = Buffer.from(
        new URLSearchParams(pairs.map(([name, text]): [string, string] => [name, text])).toString(),
      )
      const decoded: [string, string][] = []
      assert.ok(decodePairs(encoded.toString('latin1'), 100, (name, text) => decoded.push([name, text])))
      assert.deepEqual(decoded, pairs)
      const mutated = chance.mutate(encoded, tokens)
      const fields = Fields.fromForm(mutated)
      for (const name of fields?.names() ?? []) assert.equal(typeof fields?.text(name), 'string')
      for (const type of ['application/x-www-form-urlencoded', undefined]) {
        await outcome(() => parseBody(type, mutated), [Refusal])
      }
    })
  })
})

describe('a random range', () => {
  const tokens = ['bytes=', '-', ',', '0', '99999999999999999999', ' ', 'x', '1-0', '=', '\0', '-1', '0-']

  it('yields separate parts within the bytes, or all of them', async (t) => {
    await fuzz(t, (chance) => {
      const size = chance.one([0, 1, 10, 1000, 2 ** 40])
      const ranges = chance.many(
        5,
        () => `${chance.one(['', chance.below(20)])}-${chance.one(['', chance.below(30)])}`,
      )
      const header = chance.mutate(Buffer.from(`bytes=${ranges.join(',')}`), tokens).toString('latin1')
      const selection = selectRanges(header, size)
      if (selection.kind !== 'parts') return
      assert.ok(selection.spans.length > 0 && selection.spans.length <= 100)
      const sorted = selection.spans.toSorted((a, b) => a.start - b.start)
      for (const [at, { start, end }] of sorted.entries()) {
        assert.ok(
          Number.isSafeInteger(start) && start >= 0 && start < end && end <= size,
          `${header} of ${size}`,
        )
        assert.ok(at === 0 || (sorted[at - 1]?.end ?? 0) < start, `${header} of ${size}`)
      }
    })
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { boundaryOf } from './header-parameters.ts'
import { type MultipartOptions, MultipartStream } from './multipart-stream.ts'

const BOUNDARY = 'b0'
const malformed = (reason: string) => new Error(`malformed: ${reason}`)

interface ReadPart {
  readonly name: string
  readonly filename: string | undefined
  readonly content: string
}

/** A source of the chunks that counts its reads. */
function sourceOf(chunks: readonly Buffer[]) {
  let asked = 0
  return {
    read: async () => chunks[asked++],
    get asked() {
      return asked
    },
  }
}

function open(chunks: readonly Buffer[], options: Partial<MultipartOptions> = {}, boundary = BOUNDARY) {
  return new MultipartStream(sourceOf(chunks).read, boundary, { malformed, ...options })
}

async function contentOf(content: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of content) {
    assert(piece.length > 0, 'no empty pieces')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('latin1')
}

async function readAll(form: MultipartStream): Promise<ReadPart[]> {
  const parts: ReadPart[] = []
  for (let part = await form.next(); part !== undefined; part = await form.next()) {
    parts.push({ name: part.name, filename: part.filename, content: await contentOf(part.content) })
  }
  assert.equal(await form.next(), undefined, 'after the end there is nothing more')
  return parts
}

/** A part with raw header and content. */
const raw = (disposition: string, content: string, more = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`
const END = `--${BOUNDARY}--\r\n`

const sample = Buffer.from(
  `a preamble\r\n${raw('name="parent_dir"', '/')}${raw('name="file"; filename="a.bin"', '\r\n--b\r\n\r--b1\r\n--', 'Content-Type: x/y\r\n')}` +
    `${raw('name="empty"', '')}${raw('name=file; filename="ä.txt"', `x--${BOUNDARY}`)}${END}\r\nan epilogue`,
)
const sampleParts: ReadPart[] = [
  { name: 'parent_dir', filename: undefined, content: '/' },
  { name: 'file', filename: 'a.bin', content: '\r\n--b\r\n\r--b1\r\n--' },
  { name: 'empty', filename: undefined, content: '' },
  { name: 'file', filename: 'ä.txt', content: `x--${BOUNDARY}` },
]

describe('a form that arrives in pieces', () => {
  it('is read the same wherever it is cut in two', async () => {
    for (let at = 0; at <= sample.length; at += 1) {
      const cut = [sample.subarray(0, at), sample.subarray(at)].filter((chunk) => chunk.length > 0)
      assert.deepEqual(await readAll(open(cut)), sampleParts, `cut at ${at}`)
    }
  })

  it('is read the same byte by byte', async () => {
    const bytes = Array.from(sample, (byte) => Buffer.from([byte]))
    assert.deepEqual(await readAll(open(bytes)), sampleParts)
  })

  it('is read the same however it is cut, whatever its files hold', async () => {
    // Content made of delimiter fragments, so that near misses are frequent.
    const piece = fc.constantFrom('\r', '\n', '-', '--', `--${BOUNDARY.slice(0, 1)}`, 'x', '\0', 'é', '\r\n-')
    const content = fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => Buffer.from(pieces.join('')).toString('latin1'))
    const body = fc.array(content, { maxLength: 5 })
    const cuts = fc.array(fc.nat(400), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(body, cuts, async (contents, cutsAt) => {
        const bytes = Buffer.concat([
          ...contents.map((text) =>
            Buffer.concat([
              Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="n"\r\n\r\n`),
              Buffer.from(text, 'latin1'),
              Buffer.from('\r\n'),
            ]),
          ),
          Buffer.from(END),
        ])
        const parts = await readAll(open(cutAt(bytes, cutsAt)))
        assert.deepEqual(
          parts.map((part) => part.content),
          contents,
        )
      }),
      { numRuns: 500 },
    )
  })

  it('is read the same from memory that is used again for each piece', async () => {
    for (let size = 1; size <= sample.length; size += 1) {
      let at = 0
      const memory = Buffer.alloc(size)
      const read = async (lend: boolean) => {
        // Reveals any use of borrowed bytes after the next read.
        memory.fill('!')
        const chunk = sample.subarray(at, at + size)
        at += chunk.length
        if (chunk.length === 0) return undefined
        if (!lend) return Buffer.from(chunk)
        chunk.copy(memory)
        return memory.subarray(0, chunk.length)
      }
      const form = new MultipartStream(read, BOUNDARY, { malformed })
      const found: { name: string; content: () => string }[] = []
      for (let part = await form.next(); part !== undefined; part = await form.next()) {
        // Held until the whole body was read, like small files.
        const whole = part.takeWhole(1000)
        const texts: string[] = []
        if (whole === undefined)
          for await (const piece of part.borrowed()) texts.push(piece.toString('latin1'))
        found.push({ name: part.name, content: () => whole?.toString('latin1') ?? texts.join('') })
      }
      assert.deepEqual(
        found.map(({ name, content }) => ({ name, content: content() })),
        sampleParts.map(({ name, content }) => ({ name, content })),
        `pieces of ${size}`,
      )
    }
  })

  it('never ends in anything but its parts or a refusal, whatever the bytes are', async () => {
    const token = fc.constantFrom(
      `--${BOUNDARY}`,
      `--${BOUNDARY}--`,
      '\r\n',
      '\r\n\r\n',
      'Content-Disposition: form-data; name="a"',
      'Content-Disposition',
      ':',
      '"',
      ';',
      '\\',
      ' ',
      '\0',
      'x',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 30 }), fc.array(fc.nat(300)), async (tokens, cutsAt) => {
        try {
          await readAll(open(cutAt(Buffer.from(tokens.join('')), cutsAt)))
        } catch (error) {
          assert.match(String(error), /malformed: /)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('is not read ahead of who takes it', async () => {
    const chunks = [
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\none`),
      Buffer.from('two'),
      Buffer.from(`three\r\n${END}`),
    ]
    const source = sourceOf(chunks)
    const form = new MultipartStream(source.read, BOUNDARY, { malformed })
    const part = await form.next()
    assert(part)
    assert.equal(source.asked, 1)
    const pieces = part.content[Symbol.asyncIterator]()
    const seen: [string | undefined, number][] = []
    for (let index = 0; index < 3; index += 1) {
      const { value } = await pieces.next()
      seen.push([value?.toString(), source.asked])
    }
    assert.deepEqual(seen, [
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ])
  })

  it('skips what was not read of a part, which is then over', async () => {
    const form = open([sample])
    const first = await form.next()
    const second = await form.next()
    assert.equal(second?.filename, 'a.bin')
    assert.equal(await contentOf(first?.content ?? assert.fail()), '')
    assert.equal((await form.next())?.name, 'empty')
  })

  it('copies nothing but what a delimiter might begin in', async () => {
    const large = Buffer.alloc(65_536, 'x')
    const form = open([
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\nyy`),
      large,
      Buffer.from(`\r\n${END}`),
    ])
    const part = await form.next()
    const pieces: Buffer[] = []
    for await (const piece of part?.content ?? assert.fail()) pieces.push(piece)
    assert.equal(pieces.length, 2)
    assert.equal(pieces[1]?.buffer, large.buffer)
  })
})

describe('the head of a part', () => {
  const names: [about: string, disposition: string, name: string, filename: string | undefined][] = [
    ['plain', 'name="file"; filename="a.txt"', 'file', 'a.txt'],
    ['without quotes', 'name=file; filename=a.txt', 'file', 'a.txt'],
    ['in another order', 'filename="a.txt"; name="file"', 'file', 'a.txt'],
    ['with odd spaces', ' name = "file" ;filename= "a.txt" ', 'file', 'a.txt'],
    ['in capitals', 'NAME="file"; FileName="a.txt"', 'file', 'a.txt'],
    ['with semicolons', 'name="file"; filename="a;b=c; filename=x.txt"', 'file', 'a;b=c; filename=x.txt'],
    ['with escaped quotes', 'name="file"; filename="a\\"b\\\\c"', 'file', 'a"b\\c'],
    ['with a Windows path', 'name="file"; filename="C:\\dir\\new.txt"', 'file', 'C:\\dir\\new.txt'],
    ['with percents', 'name="file"; filename="100%25%7F.txt"', 'file', '100%25%7F.txt'],
    ['with an emoji', 'name="file"; filename="📚 ä.txt"', 'file', '📚 ä.txt'],
    ['extended', `name="file"; filename="x"; filename*=UTF-8''%e2%82%ac%20a.txt`, 'file', '€ a.txt'],
    ['extended in another charset', `name="file"; filename="x"; filename*=koi8-r''%e2`, 'file', 'x'],
    ['of a text', 'name="parent_dir"', 'parent_dir', undefined],
    ['with an empty file name', 'name="file"; filename=""', 'file', ''],
    ['that is __proto__', 'name="__proto__"', '__proto__', undefined],
  ]
  for (const [about, disposition, name, filename] of names) {
    it(`may have a name ${about}`, async () => {
      const [part] = await readAll(open([Buffer.from(raw(disposition, '1') + END)]))
      assert.deepEqual(part, { name, filename, content: '1' })
    })
  }

  it('makes ill-formed text of bytes that are no UTF-8', async () => {
    const body = Buffer.from(raw('name="file"; filename="\xe4.txt"', '1') + END, 'latin1')
    const [part] = await readAll(open([body]))
    assert.equal(part?.filename?.isWellFormed(), false)
  })

  it('gives other headers too, the last of several winning', async () => {
    const body = raw('name="file"', '1', 'content-digest: a\r\nCONTENT-DIGEST: b:c\r\nnonsense\r\n') + END
    const part = await open([Buffer.from(body)]).next()
    assert.equal(part?.headers.get('content-digest'), 'b:c')
  })

  it('may share its blank line with the delimiter when there is no content', async () => {
    const body = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${END}`
    for (let at = 0; at < body.length; at += 1) {
      const cut = [Buffer.from(body.slice(0, at)), Buffer.from(body.slice(at))].filter((b) => b.length > 0)
      assert.deepEqual(await readAll(open(cut)), [{ name: 'a', filename: undefined, content: '' }])
    }
  })

  it('may follow a delimiter with blanks behind it', async () => {
    const body = `--${BOUNDARY} \t \r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n${END}`
    assert.equal((await readAll(open([Buffer.from(body)])))[0]?.content, '1')
  })
})

describe('a body without parts', () => {
  for (const body of ['', END, `--${BOUNDARY}--`, `preamble\r\n${END}epilogue`]) {
    it(`may be ${JSON.stringify(body)}`, async () => {
      assert.deepEqual(await readAll(open(body === '' ? [] : [Buffer.from(body)])), [])
    })
  }
})

describe('a body that is no form', () => {
  const header = 'Content-Disposition: form-data; name="a"'
  const bodies: [about: string, body: string, options?: Partial<MultipartOptions>][] = [
    ['is of another boundary', '--other\r\n\r\n--other--'],
    ['is nothing but text', 'hello'],
    ['ends within a delimiter', `--${BOUNDARY}`],
    ['ends after one hyphen', `--${BOUNDARY}-`],
    ['ends within the headers', `--${BOUNDARY}\r\n${header}\r\n`],
    ['ends within the content', `--${BOUNDARY}\r\n${header}\r\n\r\ncontent`],
    ['ends within the last delimiter', `--${BOUNDARY}\r\n${header}\r\n\r\n1\r\n--${BOUNDARY.slice(0, 1)}`],
    ['lacks the last delimiter', raw('name="a"', '1')],
    ['has line feeds only', `--${BOUNDARY}\n${header}\n\n1\n--${BOUNDARY}--\n`],
    ['has a delimiter that goes on', `--${BOUNDARY}x\r\n${header}\r\n\r\n1\r\n${END}`],
    ['has a delimiter that goes on after blanks', `--${BOUNDARY} x\r\n${header}\r\n\r\n1\r\n${END}`],
    ['has a part without a name', `--${BOUNDARY}\r\nContent-Type: a/b\r\n\r\n1\r\n${END}`],
    ['has a part without headers', `--${BOUNDARY}\r\n\r\n1\r\n${END}`],
    ['has a long epilogue', `${END}${'x'.repeat(70_000)}`],
    ['has a long preamble', `${'x'.repeat(70_000)}\r\n${END}`],
    ['has endless blanks', `--${BOUNDARY}${' '.repeat(1000)}\r\n${header}\r\n\r\n1\r\n${END}`],
    ['has giant headers', `--${BOUNDARY}\r\n${header}\r\nx: ${'x'.repeat(17_000)}\r\n\r\n1\r\n${END}`],
    ['has endless headers', `--${BOUNDARY}\r\n${'x'.repeat(50_000)}`],
    ['has too many parts', raw('name="a"', '1').repeat(4) + END, { maxParts: 3 }],
  ]
  for (const [about, body, options] of bodies) {
    it(`is refused when it ${about}, however it is cut`, async () => {
      for (const size of [7, 4096, 100_000]) {
        const chunks: Buffer[] = []
        for (let at = 0; at < body.length; at += size) chunks.push(Buffer.from(body.slice(at, at + size)))
        await assert.rejects(readAll(open(chunks, options)), /^Error: malformed: /)
      }
    })
  }

  it('is refused when a text is too long, which a file is not', async () => {
    const body = Buffer.from(raw('name="a"', 'x'.repeat(2000)) + END)
    const options = { maxTextBytes: 1999 }
    const part = await open([body], options).next()
    await assert.rejects(async () => part?.text(), /malformed: a text is too long/)
    assert.equal((await readAll(open([body], options)))[0]?.content.length, 2000)
  })

  it('throws what its source throws', async () => {
    const read = () => Promise.reject(new Error('gone'))
    await assert.rejects(async () => new MultipartStream(read, BOUNDARY, { malformed }).next(), /gone/)
  })
})

describe('the boundary in a content type', () => {
  const types: [type: string, boundary: string | undefined][] = [
    ['multipart/form-data; boundary=abc', 'abc'],
    ['multipart/form-data; boundary="a b;c"', 'a b;c'],
    ['multipart/form-data;charset=utf-8;Boundary=abc', 'abc'],
    ['multipart/form-data', undefined],
    ['multipart/form-data; boundary=', undefined],
    ['multipart/form-data; boundary=""', undefined],
    [`multipart/form-data; boundary=${'x'.repeat(201)}`, undefined],
  ]
  for (const [type, boundary] of types) {
    it(`of ${type.slice(0, 60)} is ${boundary}`, () => assert.equal(boundaryOf(type), boundary))
  }
})

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b)
  return places
    .map((place, index) => bytes.subarray(place, places[index + 1]))
    .filter((chunk) => chunk.length > 0)
}

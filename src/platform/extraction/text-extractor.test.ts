import assert from 'node:assert/strict'
import { type ChildProcess, execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { makeDocx } from '../../../test/support/documents/packages.ts'
import {
  createTextExtractor,
  ExtractorUnavailable,
  type TextExtractor,
  type TextExtractorOptions,
} from './text-extractor.ts'

// Every process this test starts, as Node announces them.
const children: ChildProcess[] = []
const remember = (message: unknown) => children.push((message as { process: ChildProcess }).process)
const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null

describe('a text extractor', () => {
  let extractor: TextExtractor
  const make = (options: Partial<TextExtractorOptions> = {}) => {
    extractor = createTextExtractor({ simpleBytes: 0, threads: 1, ...options })
    return extractor
  }
  beforeEach(() => {
    children.length = 0
    subscribe('child_process', remember)
  })
  afterEach(async () => {
    unsubscribe('child_process', remember)
    await extractor.close()
    assert.deepEqual(children.filter(isRunning), [])
  })

  it('starts no worker before the first file that needs one', async () => {
    const { extract } = bound(make())
    assert.deepEqual(await extract(file('a.png', 'x')), { reason: 'is of a type that cannot be read' })
    assert.equal(children.length, 0)
    assert.deepEqual(await extract(file('a.txt', 'x')), { text: 'x', truncated: false })
    assert.equal(children.length, 1)
  })

  it('reuses workers, up to the configured number', async () => {
    const { extract } = bound(make({ threads: 2 }))
    const names = Array.from({ length: 12 }, (_, index) => `${index}.txt`)
    const extracted = await Promise.all(names.map((name) => extract(file(name, name))))
    assert.deepEqual(
      extracted,
      names.map((name) => ({ text: name, truncated: false })),
    )
    assert.equal(children.length, 2)
  })

  it('stops an idle worker and starts another on demand', async () => {
    const { extract } = bound(make({ idleMs: 1 }))
    await extract(file('a.txt', 'x'))
    const [first] = children
    assert.ok(first)
    if (isRunning(first)) await once(first, 'exit')
    assert.deepEqual(await extract(file('a.txt', 'y')), { text: 'y', truncated: false })
    assert.equal(children.length, 2)
  })

  it('reads only the needed beginning of a long text', async () => {
    const { extract } = bound(make({ limits: { plainBytes: 100 } }))
    let asked = 0
    const endless = async function* () {
      for (;;) {
        asked += 1
        yield Buffer.alloc(30, 'x')
      }
    }
    const extracted = await extract({ name: 'a.log', size: 1e9, read: endless })
    assert.deepEqual(extracted, { text: 'x'.repeat(100), truncated: true })
    assert.equal(asked, 4)
  })

  it('reports whether the text was truncated', async () => {
    const { extract } = bound(make({ limits: { textLength: 10, plainBytes: 20 } }))
    assert.deepEqual(await extract(file('a.txt', 'x'.repeat(10))), { text: 'x'.repeat(10), truncated: false })
    assert.deepEqual(await extract(file('a.txt', 'x'.repeat(11))), { text: 'x'.repeat(10), truncated: true })
    assert.deepEqual(await extract(file('a.docx', makeDocx(['abcdefghijklmn']))), {
      text: 'abcdefghij',
      truncated: true,
    })
  })

  it('rejects a file that is too large, without reading it if its size is known', async () => {
    const { extract } = bound(make({ limits: { inputBytes: 2 ** 20 } }))
    const unread = () => assert.fail('it was read')
    assert.deepEqual(await extract({ name: 'a.pdf', size: 2 ** 20 + 1, read: unread }), {
      reason: 'is larger than 1 MiB',
    })
    const lying = { ...file('a.pdf', Buffer.alloc(2 ** 20 + 1)), size: 5 }
    assert.deepEqual(await extract(lying), { reason: 'is larger than 1 MiB' })
    assert.deepEqual(await extract(file('a.txt', 'next')), { text: 'next', truncated: false })
  })

  it('passes on read errors and continues with the next file', async () => {
    const { extract } = bound(make())
    const damaged = async function* () {
      yield Buffer.from('half of it')
      throw new Error('a damaged block')
    }
    await assert.rejects(extract({ name: 'a.txt', size: 100, read: damaged }), /a damaged block/)
    const broken = () => {
      throw new Error('no such file')
    }
    await assert.rejects(extract({ name: 'a.txt', size: 100, read: broken }), /no such file/)
    assert.deepEqual(await extract(file('a.txt', 'next')), { text: 'next', truncated: false })
    assert.equal(children.length, 1)
  })

  it('stops at once on abort, in every state of a file', async () => {
    const { extract } = bound(make())
    await assert.rejects(extract(file('a.txt', 'x'), AbortSignal.abort(new Error('before'))), /before/)

    const coming = new AbortController()
    const [left, started] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const stalled = async function* () {
      started.resolve()
      await left.promise
      yield Buffer.from('too late')
    }
    const first = extract({ name: 'a.txt', size: 1, read: stalled }, coming.signal)
    const waiting = new AbortController()
    const second = extract(file('b.txt', 'x'), waiting.signal)
    await started.promise
    waiting.abort(new Error('while it waits'))
    await assert.rejects(second, /while it waits/)
    coming.abort(new Error('while it comes'))
    await assert.rejects(first, /while it comes/)
    left.resolve()
    assert.deepEqual(await extract(file('a.txt', 'next')), { text: 'next', truncated: false })
  })

  it('does not mix the rest of an aborted file into the next', async () => {
    const { extract } = bound(make())
    await extract(file('a.txt', 'started'))
    for (let round = 0; round < 5; round += 1) {
      const abandoned = new AbortController()
      const read = async function* () {
        setImmediate(() => abandoned.abort(new Error('abandoned')))
        yield Buffer.alloc(4 * 2 ** 20, 'x')
        yield Buffer.alloc(4 * 2 ** 20, 'y')
      }
      const large = extract({ name: 'a.rtf', size: 8 * 2 ** 20, read }, abandoned.signal)
      const next = extract(file('next.txt', 'next'))
      await assert.rejects(large, /abandoned/)
      assert.deepEqual(await next, { text: 'next', truncated: false })
    }
  })

  it('lets its workers read only their own code', async () => {
    const { extract } = bound(make())
    await extract(file('a.txt', 'x'))
    // Where the kernel confines workers, a first program has the command of the worker in its input.
    const args = children[0]?.spawnargs ?? []
    const flags = args.flatMap((arg) =>
      arg.startsWith('{') ? (JSON.parse(arg) as { command: string[] }).command : arg,
    )
    const permissions = flags.filter((flag) => /^--(permission|allow)/.test(flag))
    assert.ok(permissions.includes('--permission'))
    const attempts = `[() => fs.readFileSync(${JSON.stringify(path.resolve('package.json'))}),
      () => fs.writeFileSync(${JSON.stringify(path.join(import.meta.dirname, 'new.ts'))}, ''),
      () => child_process.execFileSync(process.execPath, ['-v'])]`
    const script = `for (const attempt of ${attempts}) try { attempt(); console.log('done') } catch (error) { console.log(error.code) }`
    const { stdout } = await promisify(execFile)(process.execPath, [...permissions, '-e', script])
    assert.deepEqual(stdout.trim().split('\n'), [
      'ERR_ACCESS_DENIED',
      'ERR_ACCESS_DENIED',
      'ERR_ACCESS_DENIED',
    ])
  })

  it('times out on a stalled input without blaming the file', async () => {
    const { extract } = bound(make({ limits: { timeoutMs: 500 } }))
    await extract(file('a.txt', 'started')).catch(() => undefined)
    const never = async function* () {
      yield Buffer.from('x')
      await Promise.withResolvers<void>().promise
    }
    await assert.rejects(extract({ name: 'a.txt', size: 2, read: never }), /did not come in time/)
  })

  it('limits memory and writes of its workers by the kernel', {
    skip: process.platform !== 'linux',
  }, async () => {
    const { extract } = bound(make({ limits: { processBytes: 512 * 2 ** 20 } }))
    await extract(file('a.txt', 'x'))
    const limits = await readFile(`/proc/${children[0]?.pid}/limits`, 'utf8')
    const softAndHard = (name: string) => new RegExp(`^${name} +(\\d+) +(\\d+)`, 'm').exec(limits)?.slice(1)
    const bytes = String(1536 * 2 ** 20)
    assert.deepEqual(softAndHard('Max data size'), [bytes, bytes])
    assert.deepEqual(softAndHard('Max file size'), ['0', '0'])
    assert.deepEqual(softAndHard('Max core file size'), ['0', '0'])
  })

  it('shares its workers fairly between keys', async () => {
    const order: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const extractor = make()
    const extract = (key: string, name: string) =>
      extractor.extract(
        {
          name: 'a.txt',
          size: 1,
          owner: key,
          async *read() {
            order.push(name)
            await promise
            yield Buffer.from(name)
          },
        },
        { key },
      )
    const all = [extract('a', 'a1'), extract('a', 'a2'), extract('a', 'a3'), extract('b', 'b1')]
    resolve()
    await Promise.all(all)
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3'])
  })

  it('limits the queue', async () => {
    const { extract } = bound(make({ waiting: 1 }))
    const first = extract(file('a.txt', '1'))
    const second = extract(file('a.txt', '2'))
    await assert.rejects(extract(file('a.txt', '3')), ExtractorUnavailable)
    assert.deepEqual(await Promise.all([first, second]), [
      { text: '1', truncated: false },
      { text: '2', truncated: false },
    ])
  })

  it('survives a killed worker and retries a file that had barely started', async () => {
    const { extract } = bound(make())
    await extract(file('a.txt', 'x'))
    const half = async function* () {
      yield Buffer.from('x')
      children[0]?.kill('SIGKILL')
      await Promise.withResolvers<void>().promise
    }
    await assert.rejects(extract({ name: 'a.txt', size: 9, read: half }), /worker ended \(SIGKILL\)/)
    assert.deepEqual(await extract(file('a.txt', 'next')), { text: 'next', truncated: false })
  })

  it('leaves nothing behind when closed, and accepts no more files', async () => {
    const { extract } = bound(make())
    const never = async function* () {
      await Promise.withResolvers<void>().promise
      yield Buffer.from('')
    }
    const answers = Promise.allSettled([
      extract({ name: 'a.txt', size: 1, read: never }),
      extract(file('b.txt', 'waits')),
    ])
    await extractor.close()
    for (const answer of await answers) {
      assert.ok(
        answer.status === 'rejected' && answer.reason instanceof ExtractorUnavailable,
        JSON.stringify(answer),
      )
    }
    assert.deepEqual(children.filter(isRunning), [])
    await assert.rejects(extract(file('a.txt', 'x')), ExtractorUnavailable)
    await extractor.close()
  })
})

function file(name: string, content: string | Buffer) {
  const bytes = Buffer.from(content)
  return {
    name,
    size: bytes.length,
    read: async function* () {
      yield bytes
    },
  }
}

function bound(extractor: TextExtractor) {
  return {
    extract: (input: Omit<Parameters<TextExtractor['extract']>[0], 'owner'>, signal?: AbortSignal) =>
      extractor.extract({ owner: '1', ...input }, signal ? { signal } : {}),
  }
}

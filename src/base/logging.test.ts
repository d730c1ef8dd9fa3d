import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { createLogger, lineWriter } from './logging.ts'

function collecting(pretty: boolean) {
  const lines: string[] = []
  const logger = createLogger('info', { pretty, destination: { write: (line) => lines.push(line) } })
  return { logger, lines }
}

describe('the logger', () => {
  it('writes one JSON object a line, with the module that wrote it', () => {
    const { logger, lines } = collecting(false)
    logger.child({ module: 'http' }).info({ port: 80 }, 'listening')
    logger.debug('not at this level')
    const [line, ...others] = lines.map((text) => JSON.parse(text))
    assert.equal(others.length, 0)
    assert.deepEqual(
      { level: line.level, module: line.module, port: line.port, msg: line.msg },
      { level: 'info', module: 'http', port: 80, msg: 'listening' },
    )
    assert.ok(Math.abs(Date.parse(line.time) - Date.now()) < 60_000)
  })

  it('is waited for once at the end of the process, however many there are', () => {
    createLogger('silent', { pretty: false })
    const before = process.listenerCount('exit')
    for (let n = 0; n < 20; n++) createLogger('silent', { pretty: false })
    assert.equal(process.listenerCount('exit'), before)
  })

  it('writes the lines of requests as it writes others', () => {
    for (const pretty of [false, true]) {
      const { logger, lines } = collecting(pretty)
      const child = logger.child({ module: 'http' })
      child.info({ route: '/a"b', ms: 1.5 }, 'request')
      lineWriter(child, 'request')(`"route":${JSON.stringify('/a"b')},"ms":1.5`)
      const [usual, own] = lines.map((text) => text.replace(/\d\d:\d\d:\d\d(?:\.\d+)?/, 'then'))
      assert.equal(own, usual)
    }
  })

  const secrets = [
    { password: 'hidden' },
    { passwd: 'hidden' },
    { body: { token: 'hidden' } },
    { config: { secret: 'hidden' } },
    { request: { headers: { authorization: 'Token hidden', cookie: 'hidden' } } },
  ]
  for (const fields of secrets) {
    it(`keeps secrets out of ${JSON.stringify(fields)}`, () => {
      for (const pretty of [false, true]) {
        const { logger, lines } = collecting(pretty)
        logger.info(fields, 'seen')
        logger.child(fields).warn('seen')
        assert.equal(lines.length, 2)
        for (const line of lines) {
          assert.match(line, /seen/)
          assert.match(line, /\[secret\]/)
          assert.doesNotMatch(line, /hidden/)
        }
      }
    })
  }

  it('writes a short line for people, with the stack of an error below', () => {
    const { logger, lines } = collecting(true)
    const cause = new Error('disk on fire')
    logger
      .child({ module: 'storage' })
      .error({ err: new Error('no block', { cause }), id: 'ab', n: 1 }, 'failed')
    const [first = '', ...below] = lines.join('').split('\n')
    assert.match(first, /^\d\d:\d\d:\d\d .*error.* storage {2}failed id=ab n=1$/)
    assert.match(below.join('\n'), /Error: no block\n {4}at .*Error: disk on fire/s)
  })

  const child = (script: string) => {
    const whole = `const { createLogger } = require(process.argv[1]);${script}`
    const args = ['-e', whole, path.join(import.meta.dirname, 'logging.ts')]
    return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  }

  it('writes out everything before the process ends', async () => {
    const { stdout } = child(`
      const logger = createLogger('info', { pretty: false })
      for (let n = 0; n < 5000; n++) logger[n % 100 ? 'info' : 'warn']({ n }, 'äöü')
      setTimeout(() => {
        logger.info({ n: 5000 }, 'last')
        process.exit()
      }, 20)
    `)
    const lines = (await text(stdout)).trim().split('\n')
    const numbers = lines.map((line) => Number(JSON.parse(line).n))
    // Lines a thread was writing when the process ended may stand after the last ones.
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 5001 }, (_, n) => n),
    )
  })

  it('writes a line at once, and those that soon follow together', async () => {
    const { stdout } = child(`
      const fs = require('node:fs')
      const { write } = fs
      const writes = []
      fs.write = (fd, bytes, done) => write(fd, bytes, (...result) => {
        writes.push(String(bytes).trim().split('\\n').map((line) => JSON.parse(line).n))
        done(...result)
        if (writes.length === 1) for (const n of [1, 2, 3]) logger.info({ n }, 'soon')
        else process.exit()
      })
      require('node:module').syncBuiltinESMExports()
      const logger = createLogger('info', { pretty: false })
      logger.info({ n: 0 }, 'at once')
      setTimeout(() => {}, 60_000)
      process.once('exit', () => fs.writeSync(1, JSON.stringify({ writes })))
    `)
    const last = (await text(stdout)).split('\n').at(-1) ?? ''
    assert.deepEqual(JSON.parse(last), { writes: [[0], [1, 2, 3]] })
  })

  it('does not keep the process from ending when its reader is gone', { timeout: 60_000 }, async (t) => {
    const process = child(`
      const logger = createLogger('info', { pretty: false })
      globalThis.process.stdout.on('error', () => {})
      globalThis.process.stdin.once('data', () => {
        for (let n = 0; n < 3; n++) logger.error('there is nobody')
        globalThis.process.exit(3)
      })
    `)
    t.after(() => process.kill('SIGKILL'))
    process.stdout.destroy()
    await once(process.stdout, 'close')
    process.stdin.write('go')
    const [code] = await once(process, 'exit')
    assert.equal(code, 3)
  })
})

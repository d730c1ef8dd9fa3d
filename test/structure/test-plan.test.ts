import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { missingPackages } from '../../bin/system-programs.ts'
import {
  CI_MINUTES,
  findTestFiles,
  PROMISED_MINUTES,
  planTests,
  RULES,
  ruleOf,
  TESTING_FILE,
  testingPage,
} from '../../bin/test-plan.ts'
import { runTestProcess } from '../../bin/test-process.ts'
import { rerunFailures } from '../../bin/test-rerun.ts'
import { eventually } from '../support/transfer.ts'

const root = path.join(import.meta.dirname, '../..')

describe('the test plan', () => {
  it('runs every test file in at least one tier', () => {
    const files = findTestFiles(root)
    assert.ok(files.length > 250, `${files.length} files`)
    const planned = planTests(root, ['fast', 'deep'], []).flatMap((job) => job.files)
    assert.deepEqual(
      files.filter((file) => !planned.includes(file)),
      [],
    )
  })

  it('runs a file at most once on each database, also with both tiers', () => {
    for (const tiers of [['fast'], ['deep'], ['fast', 'deep']] as const) {
      const runs = planTests(root, tiers, []).flatMap(({ files, database }) =>
        files.map((file) => `${file} ${database}`),
      )
      assert.equal(new Set(runs).size, runs.length)
    }
  })

  it('runs tests that replace globals of the process apart from those with a server', () => {
    for (const tiers of [['fast'], ['deep'], ['fast', 'deep']] as const) {
      const mixed = planTests(root, tiers, []).filter(({ files }) => {
        const count = files.filter((file) => file.startsWith('test/web/unit/')).length
        return count > 0 && count < files.length
      })
      assert.deepEqual(mixed, [])
    }
  })

  it('is in the docs', async () => {
    const page = await readFile(TESTING_FILE, 'utf8')
    assert.equal(page, testingPage(page), 'run node bin/test-plan.ts --write')
  })

  it('promises times that the docs state and CI allows, with half as much again', async () => {
    const { fast, deep } = PROMISED_MINUTES
    const page = await readFile(TESTING_FILE, 'utf8')
    const stated = [...page.matchAll(/at most (\d+) minutes/g)].map(([, minutes]) => Number(minutes))
    assert.deepEqual(stated, [fast, fast + deep, deep])
    const script = await readFile(path.join(root, '.ci/run'), 'utf8')
    const minutesOf = (limit: RegExp) => Number(limit.exec(script)?.[1])
    const [first, both] = [minutesOf(/ (\d+)m npm test$/m), minutesOf(/\(\((\d+) \* 60 - SECONDS/)]
    assert.ok(first >= fast * 1.5, `${first} minutes for the fast tier`)
    assert.ok(both >= (fast + deep) * 1.5 && both < CI_MINUTES, `${both} minutes for both`)
    assert.ok(page.includes(`${first} minutes for \`npm test\`, ${both} for both`))
  })

  it('has no rule that matches nothing', () => {
    const used = new Set(findTestFiles(root).map(ruleOf))
    assert.deepEqual(
      RULES.filter((rule) => !used.has(rule)).map(({ files }) => files),
      [],
    )
  })
})

describe('a process of test files', () => {
  const cases = {
    'ends at its deadline, though a test never does': {
      source: `it('waits', () => new Promise(() => setInterval(() => {}, 1000)))`,
      failure: /^did not end within 3 s, in: .* > waits$/,
    },
    'ends at its deadline, though a test blocks the event loop': {
      source: `it('loops', () => { for (;;); })`,
      failure: /^did not end within 3 s/,
    },
    'fails when a test ends the process': {
      source: `it('exits', () => process.exit(0))`,
      failure: /^ended early \(exit code 0\)/,
    },
    'reports a test that fails': {
      source: `it('fails', () => { throw new Error('on purpose') })`,
      failure: undefined,
    },
  } as const
  for (const [behaviour, { source, failure }] of Object.entries(cases)) {
    it(behaviour, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'carrel-plan-'))
      const file = path.join(folder, 'a.test.mjs')
      await writeFile(file, `import { it } from 'node:test'\n${source}\n`)
      const { signal } = new AbortController()
      const deadlineMs = failure === undefined ? 60_000 : 3000
      const report = await runTestProcess({ files: [file], env: process.env, deadlineMs, signal })
      await rm(folder, { recursive: true })
      if (failure === undefined) {
        assert.equal(report.failure, undefined)
        assert.match(report.results.find(({ ok }) => !ok)?.error ?? '', /on purpose/)
      } else assert.match(report.failure ?? 'none', failure)
    })
  }

  it('knows the test of a nested one and of a late error, and follows no promise for that', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'carrel-plan-'))
    const file = path.join(folder, 'a.test.mjs')
    await writeFile(
      file,
      `import assert from 'node:assert/strict'
       import { executionAsyncId } from 'node:async_hooks'
       import { readFile } from 'node:fs'
       import { describe, it } from 'node:test'
       const aborted = ({ signal }) =>
         new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
       const late = () => { throw new Error('on purpose') }
       describe('outer', async () => {
         await null
         it('timer', (t) => (setTimeout(late), aborted(t)))
         it('file', (t) => (readFile(import.meta.filename, late), aborted(t)))
         it('rejection', (t) => (void Promise.resolve().then(late), aborted(t)))
         it('nested', async (t) => { await null; await t.test('inner', () => {}) })
         it('promise', async () => { await null; assert.equal(executionAsyncId(), 0) })
       })`,
    )
    const { signal } = new AbortController()
    const report = await runTestProcess({ files: [file], env: process.env, deadlineMs: 60_000, signal })
    await rm(folder, { recursive: true })
    assert.equal(report.failure, undefined)
    const shown = report.results.map(({ name, nesting, ok }) => `${nesting} ${name}${ok ? '' : ' fails'}`)
    assert.deepEqual(shown, [
      '2 timer fails',
      '2 file fails',
      '2 rejection fails',
      '3 inner',
      '2 nested',
      '2 promise',
      '1 outer fails',
      `0 ${file} fails`,
    ])
  })

  it('writes what it has compiled before its last test is reported, not while it exits', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'carrel-plan-'))
    const file = path.join(folder, 'a.test.mjs')
    await writeFile(
      file,
      `import { readdirSync } from 'node:fs'
       import { it } from 'node:test'
       it('passes', () => {})
       const cached = () => readdirSync(process.env.NODE_COMPILE_CACHE, { recursive: true }).length
       process.once('exit', () => console.log(cached() > 1 ? 'compiled code is written' : 'nothing is written'))`,
    )
    const env = { ...process.env, NODE_COMPILE_CACHE: path.join(folder, 'cache') }
    const { signal } = new AbortController()
    const report = await runTestProcess({ files: [file], env, deadlineMs: 60_000, signal })
    await rm(folder, { recursive: true })
    assert.match(report.output, /compiled code is written/)
  })
})

describe('programs of the system', () => {
  it('are installed one by one: those that are there are not installed again', () => {
    const there = new Set(['mariadbd', '/usr/include/stdio.h', 'chromium'])
    const missing = (packages: Record<string, string | string[]>) =>
      missingPackages(packages, (name) => there.has(name))
    assert.deepEqual(missing({ server: 'mariadbd', client: 'mariadb' }), ['client'])
    assert.deepEqual(missing({ compiler: 'cc', headers: '/usr/include/stdio.h' }), ['compiler'])
    assert.deepEqual(missing({ browser: ['chromium-headless-shell', 'chromium'] }), [])
  })
})

describe('a process of test files whose runner is killed', () => {
  it('ends, though a test blocks the event loop', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'carrel-plan-'))
    const [file, runner, pidFile] = ['a.test.mjs', 'runner.mjs', 'pid'].map((name) => path.join(folder, name))
    assert.ok(file !== undefined && runner !== undefined && pidFile !== undefined)
    await writeFile(
      file,
      `import { writeFileSync } from 'node:fs'
       import { it } from 'node:test'
       it('loops', () => {
         writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
         for (;;);
       })`,
    )
    const options = `{ files: [${JSON.stringify(file)}], env: process.env, deadlineMs: 120_000, signal: new AbortController().signal }`
    await writeFile(
      runner,
      `import { runTestProcess } from ${JSON.stringify(path.join(root, 'bin/test-process.ts'))}
       await runTestProcess(${options})`,
    )
    const child = spawn(process.execPath, [runner], { stdio: ['ignore', 'ignore', 'inherit'] })
    let pid = 0
    try {
      await eventually(async () => {
        pid = Number(await readFile(pidFile, 'utf8'))
        assert.ok(pid > 0)
      })
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await eventually(async () => assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }))
    } finally {
      child.kill('SIGKILL')
      if (pid > 0 && isRunning(pid)) process.kill(pid, 'SIGKILL')
      await rm(folder, { recursive: true })
    }
  })

  function isRunning(pid: number): boolean {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
})

describe('test files that failed', () => {
  const failureOf = (files: number) => ({ files })
  const rerun = async (failures: readonly { files: number }[], passing: readonly unknown[]) => {
    const ran: unknown[] = []
    const unsteady = await rerunFailures(
      failures,
      ({ files }) => files,
      async (failure) => {
        ran.push(failure)
        return passing.includes(failure)
      },
    )
    return { ran, unsteady }
  }

  it('run once more if they are at most three, and only those that pass then are unsteady', async () => {
    const [first, second] = [failureOf(1), failureOf(2)]
    assert.deepEqual(await rerun([first, second], [second]), { ran: [first, second], unsteady: [second] })
  })

  it('do not run again if they are more', async () => {
    const failures = [failureOf(2), failureOf(2)]
    assert.deepEqual(await rerun(failures, failures), { ran: [], unsteady: [] })
  })
})

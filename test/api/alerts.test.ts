import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import { registerS3Metrics } from '../../src/platform/storage/s3/metrics.ts'
import { startServer } from '../support/server.ts'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const rules = read('docs/alerts.yml')
  .split('\n')
  .filter((line) => !line.trimStart().startsWith('#'))
  .join('\n')

describe('the alert rules in docs/alerts.yml', () => {
  it('use only metrics that exist', async () => {
    // Mail has metrics if it is set up.
    const env = {
      CARREL_MAIL_URL: 'smtp://127.0.0.1:9',
      CARREL_MAIL_FROM: 'carrel@example.org',
      CARREL_PUBLIC_URL: 'https://files.example.org',
    }
    await using server = await startServer({ env })
    const { text } = await (await server.admin()).get('/metrics')
    // A server without S3 does not have these.
    const s3 = new Registry()
    const none = {
      requests: 0,
      seconds: 0,
      retries: 0,
      failures: 0,
      cacheHits: 0,
      cacheMisses: 0,
      cacheBytes: 0,
    }
    registerS3Metrics(s3, () => none)
    const existing = new Set(
      [...`${text}${await s3.metrics()}`.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
    )
    const used = new Set([...rules.matchAll(/\bcarrel_\w+/g)].map(([name]) => name))
    assert.ok(used.size > 15)
    assert.deepEqual(
      [...used].filter((name) => !existing.has(name)),
      [],
    )
  })

  it('have an expression, a severity and a summary each', () => {
    const each = rules.split(/^ {6}- alert: /m).slice(1)
    assert.ok(each.length > 20)
    for (const rule of each) {
      assert.match(rule, /^Carrel\w+\n {8}expr: \S/)
      assert.match(rule, /\n {8}labels: \{ severity: (critical|warning) \}\n/)
      assert.match(rule, /\n {8}annotations:\n {10}summary: '.+'\n/)
    }
  })

  it('are explained in docs/monitoring.md, which the README and docs/scaling.md name', () => {
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => `\`${name}\``)
    assert.equal(new Set(names).size, names.length)
    const explained = read('docs/monitoring.md').match(/`Carrel\w+`/g) ?? []
    assert.deepEqual(explained.toSorted(), names.toSorted())
    assert.ok(read('README.md').includes('(docs/alerts.yml)'))
    for (const page of ['monitoring', 'scaling'])
      assert.ok(read(`docs/${page}.md`).includes('(alerts.yml)'), page)
  })
})

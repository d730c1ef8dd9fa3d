import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'

const command = findProgram('promtool')
const skip = command === undefined ? 'Prometheus is not installed' : false
const rules = path.join(import.meta.dirname, '../../docs/alerts.yml')

describe('promtool of Prometheus with docs/alerts.yml', { skip, timeout: 60_000 }, () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-promtool-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const promtool = (...parts: string[]) => promisify(execFile)(command ?? '', parts)

  it('accepts every rule', async () => {
    const count = (await readFile(rules, 'utf8')).match(/^ *- alert:/gm)?.length
    const { stdout } = await promtool('check', 'rules', rules)
    assert.match(stdout, new RegExp(`SUCCESS: ${count} rules found`))
  })

  it('rejects an expression that it cannot parse', async () => {
    const broken = path.join(folder, 'broken.yml')
    await writeFile(broken, (await readFile(rules, 'utf8')).replace('== 0', '=== 0'))
    await assert.rejects(promtool('check', 'rules', broken), /could not parse expression/)
  })

  it('finds that they fire when they should, and only then', async () => {
    const series = (name: string, values: string) => ({ series: name, values })
    const expectAt = (time: string, alertname: string, expected: readonly object[]) => ({
      eval_time: time,
      alertname,
      exp_alerts: expected,
    })
    const alertOf = (instance: string, severity: string, summary: string) => ({
      exp_labels: { severity, job: 'carrel', instance },
      exp_annotations: { summary },
    })
    const of = (instance: string) => `{job="carrel",instance="${instance}"}`
    const file = path.join(folder, 'test.yml')
    const test = {
      rule_files: [rules],
      evaluation_interval: '15s',
      tests: [
        {
          interval: '15s',
          input_series: [
            series(`up${of('one')}`, '1x20 0x80'),
            series(`up${of('two')}`, '1x100'),
            // As often as they are committed, and every second one twice.
            series(`carrel_edits_applied_total${of('one')}`, '0+100x100'),
            series(`carrel_edits_committed_total${of('one')}`, '0+100x100'),
            series(`carrel_edits_applied_total${of('two')}`, '0+150x100'),
            series(`carrel_edits_committed_total${of('two')}`, '0+100x100'),
          ],
          alert_rule_test: [
            expectAt('5m', 'CarrelNodeDown', []),
            expectAt('10m', 'CarrelNodeDown', [alertOf('one', 'critical', 'one does not answer /metrics')]),
            expectAt('10m', 'CarrelNoNode', []),
            expectAt('10m', 'CarrelEditsRepeated', []),
            expectAt('24m', 'CarrelEditsRepeated', [
              alertOf('two', 'warning', 'two applies an edit 1.5 times on average'),
            ]),
          ],
        },
      ],
    }
    // JSON is YAML.
    await writeFile(file, JSON.stringify(test))
    const { stdout } = await promtool('test', 'rules', file)
    assert.match(stdout, /SUCCESS/)
  })
})

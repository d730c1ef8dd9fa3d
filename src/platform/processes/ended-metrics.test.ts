import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { mergeMetrics, metricsOfProcess } from '../../base/metrics.ts'
import { EndedMetrics } from './ended-metrics.ts'

async function processWith(number: number, requests: number): Promise<unknown> {
  const registry = new Registry()
  const registers = [registry]
  const counter = new Counter({ name: 'requests_total', help: 'x', labelNames: ['route'], registers })
  counter.inc({ route: 'a' }, requests)
  if (number === 1) counter.inc({ route: 'b' }, 1)
  const histogram = new Histogram({ name: 'seconds', help: 'x', buckets: [1, 2], registers })
  for (let n = 0; n < requests; n += 1) histogram.observe(1.5)
  new Gauge({ name: 'connections', help: 'x', registers }).set(5)
  return metricsOfProcess(registry, number)
}

it('adds the totals of ended processes to those that run, and no gauges', async () => {
  const ended = new EndedMetrics()
  assert.deepEqual(ended.metrics, [])
  ended.add(await processWith(1, 2))
  ended.add(await processWith(2, 3))
  const text = await mergeMetrics([await processWith(3, 4), ended.metrics])
  for (const line of [
    'requests_total{route="a"} 9',
    'requests_total{route="b"} 1',
    'seconds_bucket{le="1"} 0',
    'seconds_bucket{le="2"} 9',
    'seconds_count 9',
    'seconds_sum 13.5',
    'connections 5',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in ${text}`)
  }
})

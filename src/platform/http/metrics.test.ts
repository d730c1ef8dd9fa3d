import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from './metrics.ts'

describe('the metrics of a server', () => {
  it('are a counter, a gauge and a histogram that Prometheus reads', async () => {
    const metrics = createMetrics()
    for (const [status, seconds] of [
      [200, 0.0005],
      [200, 0.001],
      [204, 0.3],
      [200, 100],
      [404, 0.02],
    ] as const) {
      metrics.started()
      metrics.ended('/items/:id/', 'GET', status, seconds)
    }
    metrics.started()
    const found = '{route="/items/:id/",method="GET",status="2xx"}'
    const lost = '{route="/items/:id/",method="GET",status="4xx"}'
    const bucket = (le: string, count: number) =>
      `carrel_http_request_seconds_bucket{route="/items/:id/",method="GET",status="2xx",le="${le}"} ${count}`
    const lines = (await metrics.registry.metrics()).split('\n')
    for (const line of [
      '# TYPE carrel_http_requests_total counter',
      `carrel_http_requests_total${found} 4`,
      `carrel_http_requests_total${lost} 1`,
      '# TYPE carrel_http_requests_in_flight gauge',
      'carrel_http_requests_in_flight 1',
      '# TYPE carrel_http_request_seconds histogram',
      bucket('0.001', 2),
      bucket('0.1', 2),
      bucket('0.5', 3),
      bucket('60', 3),
      bucket('+Inf', 4),
      `carrel_http_request_seconds_count${found} 4`,
      `carrel_http_request_seconds_sum${found} 100.3015`,
      `carrel_http_request_seconds_count${lost} 1`,
    ]) {
      assert(lines.includes(line), `${line} in\n${lines.join('\n')}`)
    }
  })

  it('count on between two looks at them', async () => {
    const metrics = createMetrics()
    for (const count of [1, 2]) {
      metrics.started()
      metrics.ended('/', 'GET', 200, 0)
      const text = await metrics.registry.metrics()
      assert.match(text, new RegExp(`carrel_http_requests_total\\{[^}]*\\} ${count}\\n`))
      assert.match(text, new RegExp(`carrel_http_request_seconds_count\\{[^}]*\\} ${count}\\n`))
    }
  })

  it('tell of the process when asked to', async () => {
    const { registry } = createMetrics({ processMetrics: true })
    assert.match(await registry.metrics(), /^carrel_nodejs_eventloop_lag_p99_seconds /m)
    assert.doesNotMatch(await createMetrics().registry.metrics(), /eventloop/)
  })
})

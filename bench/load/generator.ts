import { runPlanFromParent } from './child-process.ts'
import { Connection } from './connection.ts'
import { type Client, runPhase } from './phase.ts'
import type { LoadPlan, LoadResult } from './plan.ts'
import { RequestTemplate } from './request-template.ts'

// Child process that runs one load plan and reports the result, so that neither the server nor the driver shares an
// event loop with the load.

async function runPlan(plan: LoadPlan, onMeasuring: () => void): Promise<LoadResult> {
  const clients: Client[] = []
  for (let i = 0; i < plan.connections; i++) {
    const connection = await Connection.open(plan, plan.status)
    const request = plan.requests[i % plan.requests.length] ?? ''
    clients.push({ connection, template: new RequestTemplate(request, plan.hashed) })
  }
  let number = 0
  const nextNumber = () => number++
  const warm = await runPhase(clients, plan.warmUp, nextNumber)
  onMeasuring()
  const seen = await runPhase(clients, plan.measured, nextNumber)
  for (const { connection } of clients) connection.close()
  const sorted = Float64Array.from(seen.latenciesMs).sort()
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return {
    requests: sorted.length,
    isTimed: 'ms' in plan.measured,
    sent: number,
    errors: warm.errors + seen.errors,
    samples: [...warm.samples, ...seen.samples],
    perSecond: sorted.length / seen.seconds,
    p50Ms: quantile(0.5) ?? Number.NaN,
    p99Ms: quantile(0.99) ?? Number.NaN,
    maxMs: sorted.at(-1) ?? Number.NaN,
    bytesPerResponse: Math.round(seen.bytes / sorted.length),
  }
}

runPlanFromParent((plan, onMeasuring) => runPlan(plan as LoadPlan, onMeasuring))

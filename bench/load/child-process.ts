import { fork } from 'node:child_process'
import type { LoadPlan } from './plan.ts'
import type { StreamPlan } from './stream-plan.ts'

/** A response differs from the declared one, so the measurement is invalid. */
export class LoadError extends Error {
  override name = 'LoadError'
}

type ChildMessage<Result> =
  | { readonly measuring: true }
  | { readonly result: Result }
  | { readonly failure: string }

/**
 * Runs a plan with a module in a child process and returns its result. Throws LoadError.
 * @param onMeasuring called when the measurement starts
 */
export function runInChild<Result>(
  module: string,
  plan: LoadPlan | StreamPlan,
  onMeasuring: () => void = () => {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(module, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child.once('error', reject)
    child.once('exit', (code) => reject(new LoadError(`the load generator ended with ${code}`)))
    child.on('message', (received) => {
      const message = received as ChildMessage<Result>
      if ('measuring' in message) onMeasuring()
      else if ('failure' in message) reject(new LoadError(message.failure))
      else resolve(message.result)
    })
    child.send(plan)
  })
}

/** In the child: receives one plan from the parent, runs it, sends the result and exits. */
export function runPlanFromParent(
  runPlan: (plan: unknown, onMeasuring: () => void) => Promise<object>,
): void {
  process.once('message', (plan) => {
    // After a failure connections may still be open.
    const end = () => process.exit()
    runPlan(plan, () => process.send?.({ measuring: true })).then(
      (result) => process.send?.({ result }, end),
      (error: unknown) =>
        process.send?.({ failure: error instanceof Error ? error.message : String(error) }, end),
    )
  })
}

import { fork } from 'node:child_process'
import type { LoadPlan } from './plan.ts'
import type { StreamPlan } from './stream-plan.ts'

/** The server did not answer as declared, so what was measured means nothing. */
export class LoadError extends Error {
  override name = 'LoadError'
}

type Told<Result> = { readonly measuring: true } | { readonly result: Result } | { readonly failure: string }

/**
 * Has a module carry out a plan in a process of its own and gives its result. Throws LoadError.
 * @param onMeasuring called when what is measured begins
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
    child.on('message', (message) => {
      const told = message as Told<Result>
      if ('measuring' in told) onMeasuring()
      else if ('failure' in told) reject(new LoadError(told.failure))
      else resolve(told.result)
    })
    child.send(plan)
  })
}

/** In the child: takes one plan from the parent, carries it out, tells what came of it and ends. */
export function serveParent(carryOut: (plan: unknown, onMeasuring: () => void) => Promise<object>): void {
  process.once('message', (plan) => {
    // Connections may still be open where something failed.
    const end = () => process.exit()
    carryOut(plan, () => process.send?.({ measuring: true })).then(
      (result) => process.send?.({ result }, end),
      (error: unknown) =>
        process.send?.({ failure: error instanceof Error ? error.message : String(error) }, end),
    )
  })
}

import path from 'node:path'
import { LoadError, runInChild } from './child.ts'
import type { LoadPlan, LoadResult } from './plan.ts'

const GENERATOR = path.join(import.meta.dirname, 'generator.ts')

/**
 * Puts a server under load from a process of its own. Throws LoadError for any answer that was not declared.
 * @param onMeasuring called when the warm-up is over
 */
export async function runLoad(plan: LoadPlan, onMeasuring?: () => void): Promise<LoadResult> {
  const result = await runInChild<LoadResult>(GENERATOR, plan, onMeasuring)
  if (result.errors > 0) throw new LoadError(describeErrors(plan, result))
  return result
}

function describeErrors({ requests, status }: LoadPlan, { errors, samples }: LoadResult): string {
  const line = requests[0]?.slice(0, requests[0].indexOf(' HTTP/'))
  return `${errors} answers to ${line} were not ${status}, the first: ${samples.join(' | ')}`
}

import path from 'node:path'
import { runInChild } from './child-process.ts'
import type { StreamPlan, StreamResult } from './stream-plan.ts'

const GENERATOR = path.join(import.meta.dirname, 'stream-generator.ts')

/**
 * Sends large bodies or reads large responses from a child process. Throws LoadError for an undeclared status.
 * @param onMeasuring called when the first byte is sent
 */
export function runStreams(plan: StreamPlan, onMeasuring?: () => void): Promise<StreamResult> {
  return runInChild(GENERATOR, plan, onMeasuring)
}

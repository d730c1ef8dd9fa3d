import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'

// Imported before node:test. That follows every promise, timer and socket of its process through a hook, to know which test an error or a
// nested test belongs to, and so the servers under test take up to twice as much CPU time (record 0128). Here the runtime carries that
// along, as it does for AsyncLocalStorage.

type Init = (asyncId: number, type: string, triggerId: number, resource: object) => void
type Run = (...args: unknown[]) => unknown

const { createHook, executionAsyncId } = asyncHooks
const { value: runInAsyncScope } = Object.getOwnPropertyDescriptor(
  AsyncResource.prototype,
  'runInAsyncScope',
) as { value: (run: Run, thisArg: unknown, ...args: unknown[]) => unknown }
const scope = new AsyncLocalStorage<number>()
/** Notes the id of a test. Called by us instead of the hook. */
let note: Init | undefined

asyncHooks.createHook = (callbacks) => {
  note = callbacks.init?.bind(callbacks)
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
asyncHooks.executionAsyncId = () => scope.getStore() ?? executionAsyncId()
// Not an import, which would load it before the lines above run. It keeps the two functions that it finds now.
process.getBuiltinModule('node:test')
Object.assign(asyncHooks, { createHook, executionAsyncId })

AsyncResource.prototype.runInAsyncScope = function (this: AsyncResource, run: Run, thisArg, ...args) {
  if (note === undefined || !('subtests' in this)) return runInAsyncScope.call(this, run, thisArg, ...args)
  const id = this.asyncId()
  note(id, 'Test', 0, this)
  // Inside of the original, which restores the scope that the test was created in.
  const inScope = (...given: unknown[]) => scope.run(id, () => Reflect.apply(run, thisArg, given))
  return runInAsyncScope.call(this, inScope, undefined, ...args)
} as AsyncResource['runInAsyncScope']

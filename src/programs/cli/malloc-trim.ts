import { DatabaseSync } from 'node:sqlite'

/**
 * Returns the free pages in the heaps of glibc's malloc to the system. By itself malloc returns only the end of a heap, and few small
 * allocations keep hundreds of megabytes before them: pages of SQLite, buffers, the memory of threads that ended.
 *
 * Node cannot call `malloc_trim`, but SQLite can: an extension is a library and the name of a function in it. It is called with pointers
 * instead of the number of bytes to keep, which only applies to the end of the first heap. Its result 1, for "memory was returned", is an
 * error to SQLite. Other C libraries do not have the function, which is an error, too.
 */
export function trimMalloc(): void {
  if (process.platform !== 'linux') return
  const connection = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    connection.loadExtension('libc.so.6', 'malloc_trim')
  } catch {
    // See above.
  } finally {
    connection.close()
  }
}

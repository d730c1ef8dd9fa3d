import { useQueryClient } from '@tanstack/react-query'
import { addStar, type LibraryItem, patchQuery, removeStar, watchLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'

/** Star and watch toggles, with optimistic updates. */
export function useLibraryToggles() {
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()

  function show(id: string, changes: Partial<LibraryItem>): void {
    patchQuery<LibraryItem[]>(queries, ['libraries'], (all) =>
      all.map((one) => (one.repo_id === id ? { ...one, ...changes } : one)),
    )
  }

  async function change(act: Promise<unknown>): Promise<boolean> {
    try {
      await act
      return true
    } catch (error) {
      failed(error)
      return false
    } finally {
      await queries.invalidateQueries({ queryKey: ['libraries'] })
    }
  }

  async function star({ repo_id: id }: LibraryItem, on: boolean): Promise<void> {
    show(id, { starred: on })
    await change(on ? addStar(id) : removeStar(id))
    await queries.invalidateQueries({ queryKey: ['starred'] })
  }

  async function watch({ repo_id: id, repo_name: name }: LibraryItem, on: boolean): Promise<void> {
    show(id, { monitored: on })
    const done = await change(watchLibrary(id, on))
    if (done) toast({ text: on ? texts.watching(name) : texts.watchingNoMore(name) })
  }

  return { star, watch }
}

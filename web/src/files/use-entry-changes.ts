import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Entry, Folder } from '../api/index.ts'
import {
  deleteEntries,
  errorForStatus,
  fetchFolder,
  patchQuery,
  renameEntries,
  renameEntry,
  type Selected,
  setLock,
  setStar,
  undoDeletion,
} from '../api/index.ts'

import { rememberUndo, type Target } from '../tasks/index.ts'

import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import { useTransfer } from './use-transfer.ts'

/**
 * Changes to the entries of a folder, with optimistic updates. If the server refuses one, the user is told and the list
 * is loaded again.
 */
export interface Changes {
  remove(entries: readonly Entry[]): Promise<void>
  /** Resolves to the new name. */
  rename(entry: Entry, newName: string): Promise<string>
  /** All of them or none. Throws the error of the server. */
  renameMany(renamings: readonly Renaming[]): Promise<void>
  star(entries: readonly Entry[], starred: boolean): Promise<void>
  lock(entries: readonly Entry[], locked: boolean): Promise<void>
  /** Throws the error of the server. */
  transfer(operation: 'copy' | 'move', selected: Selected, to: Target): Promise<void>
}

/** An entry and its new name. */
interface Renaming {
  readonly entry: Entry
  readonly newName: string
}

export function useEntryChanges(here: CurrentFolder): Changes {
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const texts = useTexts('files')
  const transfer = useTransfer()
  return useMemo(() => {
    const { libraryId, path } = here
    const patch = (change: (entries: readonly Entry[]) => readonly Entry[]) =>
      patchFolder(queries, here, change)
    const reload = () => void queries.invalidateQueries({ queryKey: ['dir', libraryId] })
    const change = (names: ReadonlySet<string>, fields: Partial<Entry>) =>
      patch((entries) => entries.map((entry) => (names.has(entry.name) ? { ...entry, ...fields } : entry)))

    /**
     * Sequential, so that the first error is the one that is reported. What was not done is shown as it was: without a connection the list
     * cannot be loaded again.
     */
    async function each(entries: readonly Entry[], act: (entry: Entry) => Promise<void>): Promise<void> {
      const undone = new Map(entries.map((entry) => [entry.name, entry]))
      try {
        for (const entry of entries) {
          await act(entry)
          undone.delete(entry.name)
        }
      } catch (error) {
        patch((all) => all.map((entry) => undone.get(entry.name) ?? entry))
        failed(error)
      }
      reload()
    }

    /** Refused if the entry is no longer the same, or if its old name is taken. */
    async function undoRename(entry: Entry, newName: string): Promise<void> {
      try {
        const { dirent_list: now } = await fetchFolder(libraryId, path)
        const renamed = now.find(({ name }) => name === newName)
        if (renamed?.type !== entry.type || renamed.id !== entry.id) {
          return toast({ text: texts.notUndone, bad: true })
        }
        if (now.some(({ name }) => name === entry.name)) {
          return toast({ text: texts.nameIsTakenNow(entry.name), bad: true })
        }
        await renameEntry(libraryId, entryPath(here, renamed), entry.type, entry.name)
        toast({ text: texts.renamedBack(entry.name) })
      } catch (error) {
        failed(error)
      } finally {
        reload()
      }
    }

    /** Refused if one of the entries is no longer the same, or if one of the old names is taken. */
    async function undoRenameMany(renamings: readonly Renaming[]): Promise<void> {
      try {
        const { dirent_list: now } = await fetchFolder(libraryId, path)
        const ids = new Map(now.map(({ name, id }) => [name, id]))
        if (renamings.some(({ entry, newName }) => ids.get(newName) !== entry.id)) {
          return toast({ text: texts.notUndone, bad: true })
        }
        const names = renamings.map(({ newName }) => newName)
        const oldNames = renamings.map(({ entry }) => entry.name)
        await renameEntries({ libraryId, folder: path, names }, oldNames)
        toast({ text: texts.renamedManyBack(renamings.length) })
      } catch (error) {
        failed(error)
      } finally {
        reload()
      }
    }

    return {
      async renameMany(renamings) {
        const names = renamings.map(({ entry }) => entry.name)
        const newNames = renamings.map(({ newName }) => newName)
        await renameEntries({ libraryId, folder: path, names }, newNames)
        const byName = new Map(renamings.map(({ entry, newName }) => [entry.name, newName]))
        patch((all) => all.map((one) => ({ ...one, name: byName.get(one.name) ?? one.name })))
        toast({
          text: texts.renamedMany(renamings.length),
          undo: rememberUndo(() => undoRenameMany(renamings)),
        })
        reload()
      },
      async remove(entries) {
        const names = entries.map(({ name }) => name)
        const gone = new Set(names)
        const first = names[0] ?? ''
        patch((all) => all.filter(({ name }) => !gone.has(name)))
        try {
          const deletion = await deleteEntries({ libraryId, folder: path, names })
          const run = async () => {
            try {
              const [refusal] = await undoDeletion(deletion)
              if (refusal === undefined) {
                patch((all) => [...all.filter(({ name }) => !gone.has(name)), ...entries])
                toast({ text: texts.restored(names.length, first) })
              } else failed(errorForStatus(400, refusal))
            } catch (error) {
              failed(error)
            }
            reload()
          }
          toast({ text: texts.deleted(names.length, first), undo: rememberUndo(run) })
        } catch (error) {
          patch((all) => [...all.filter(({ name }) => !gone.has(name)), ...entries])
          failed(error)
        }
        reload()
      },
      async rename(entry, newName) {
        change(new Set([entry.name]), { name: newName })
        try {
          const name = await renameEntry(libraryId, entryPath(here, entry), entry.type, newName)
          // Somebody else took the name meanwhile, so the server added a number.
          if (name !== newName.normalize('NFC')) toast({ text: texts.renamedTo(name), bad: true })
          rememberUndo(() => undoRename(entry, name))
          return name
        } catch (error) {
          patch((all) => all.map((one) => (one.name === newName ? entry : one)))
          failed(error)
          return entry.name
        } finally {
          reload()
        }
      },
      async star(entries, starred) {
        change(new Set(entries.map(({ name }) => name)), { starred })
        await each(entries, (entry) => setStar(libraryId, entryPath(here, entry), starred))
        void queries.invalidateQueries({ queryKey: ['starred'] })
      },
      lock: (entries, locked) => each(entries, (entry) => setLock(libraryId, entryPath(here, entry), locked)),
      transfer: (operation, selected, to) => transfer(operation, selected, to, here),
    }
  }, [here, queries, toast, failed, texts, transfer])
}

/** Optimistic update of the cached list. */
function patchFolder(
  queries: QueryClient,
  { libraryId, path }: CurrentFolder,
  change: (entries: readonly Entry[]) => readonly Entry[],
): void {
  patchQuery<Folder>(queries, ['dir', libraryId, path], (folder) => ({
    ...folder,
    dirent_list: change(folder.dirent_list),
  }))
}

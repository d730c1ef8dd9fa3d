import './folder-picker.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FolderPlus } from 'lucide-react'
import { type FormEvent, useMemo, useState } from 'react'
import { api, canEdit, type LibraryItem, makeFolder, useLibraries } from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { ancestorsOf, join } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { Button, Dialog, LoadError, TextField, useErrorMessage, Waiting } from '../ui/index.ts'
import { FolderTree, keyOf } from './folder-tree.tsx'

/** The selected folder. */
export interface Place {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** Dialog with the tree of all writable libraries. `submit` is the label of the button. */
export function FolderPicker(props: {
  title: string
  submit: string
  start?: Place
  onChoose: (place: Place) => Promise<unknown>
  onClose: () => void
  isAllowed?: (place: Place) => boolean
}) {
  const { start, onClose } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const wording = useErrorMessage()
  const libraries = useWritable()
  const [place, setPlace] = useState(start)
  const [opened, setOpened] = useState(() => new Set(start === undefined ? [] : waysTo(start)))
  const [making, setMaking] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const chosen = libraries.data?.find(({ repo_id }) => repo_id === place?.libraryId)
  const isLocked = useIsLocked(chosen)
  const isPlace = place !== undefined && chosen !== undefined && !isLocked
  const allowed = isPlace && (props.isAllowed?.(place) ?? true)

  async function choose(): Promise<void> {
    if (place === undefined || !allowed) return
    setBusy(true)
    setFailure(undefined)
    try {
      await props.onChoose(place)
      onClose()
    } catch (error) {
      setFailure(wording(error))
      setBusy(false)
    }
  }

  function setOpen(key: string, open: boolean): void {
    const next = new Set(opened)
    if (open) next.add(key)
    else next.delete(key)
    setOpened(next)
  }

  return (
    <Dialog
      title={props.title}
      onClose={onClose}
      wide
      foot={
        <>
          <Button
            className="picker-new"
            icon={FolderPlus}
            disabled={!isPlace}
            onClick={() => setMaking(true)}
          >
            {texts.newFolder}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button variant="primary" busy={busy} disabled={!allowed} onClick={() => void choose()}>
            {props.submit}
          </Button>
        </>
      }
    >
      {libraries.data === undefined ? (
        libraries.error ? (
          <LoadError error={libraries.error} onRetry={() => void libraries.refetch()} />
        ) : (
          <Waiting />
        )
      ) : libraries.data.length === 0 ? (
        <p className="muted">{texts.noPlace}</p>
      ) : (
        <FolderTree
          libraries={libraries.data}
          opened={opened}
          setOpen={setOpen}
          place={place}
          onPlace={setPlace}
          onEnter={() => void choose()}
        />
      )}
      {chosen !== undefined && isLocked && (
        <div className="picker-password">
          <UnlockGate libraryId={chosen.repo_id}>{null}</UnlockGate>
        </div>
      )}
      {making && place !== undefined && (
        <NewFolder
          place={place}
          onDone={(path) => {
            setMaking(false)
            if (path === undefined) return
            setOpen(keyOf(place.libraryId, place.path), true)
            setPlace({ ...place, path })
          }}
        />
      )}
      {failure && (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
    </Dialog>
  )
}

/** Whether an encrypted library still has to be unlocked. */
function useIsLocked(library: LibraryItem | undefined): boolean {
  const { repo_id: id = '', encrypted = false } = library ?? {}
  const { data } = useQuery({
    queryKey: ['library', id],
    queryFn: ({ signal }) => api.get(`api/v2.1/repos/${id}/`, undefined, signal),
    enabled: encrypted,
  })
  return encrypted && data?.lib_need_decrypt === true
}

/** Each library once, even if it is shared in several ways. */
function useWritable() {
  const libraries = useLibraries()
  const data = useMemo(() => {
    const writable = libraries.data?.filter(canEdit)
    return (
      writable && [...new Map(writable.map((library) => [library.repo_id, library])).values()].sort(byTitle)
    )
  }, [libraries.data])
  return { data, error: libraries.error, refetch: libraries.refetch }
}

const byTitle = (a: LibraryItem, b: LibraryItem) => a.repo_name.localeCompare(b.repo_name)

/** Folders to expand so that a folder is visible. */
function waysTo({ libraryId, path }: Place): string[] {
  return ['/', ...ancestorsOf(path).map((step) => step.path)].map((one) => keyOf(libraryId, one))
}

function NewFolder(props: { place: Place; onDone: (path: string | undefined) => void }) {
  const { place, onDone } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const wording = useErrorMessage()
  const queries = useQueryClient()
  const [name, setName] = useState(texts.newFolder)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (name.includes('/')) return setFailure(texts.nameHasSlash)
    setBusy(true)
    try {
      const made = await makeFolder(place.libraryId, join(place.path, name.trim()))
      await queries.invalidateQueries({ queryKey: ['dir', place.libraryId] })
      onDone(join(place.path, made))
    } catch (error) {
      setFailure(wording(error))
      setBusy(false)
    }
    return undefined
  }
  return (
    <form className="picker-form" onSubmit={(event) => void submit(event)}>
      <TextField
        label={texts.folderName}
        error={failure}
        value={name}
        maxLength={255}
        autoFocus
        onFocus={({ target }) => target.select()}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onDone(undefined)
        }}
      />
      <Button type="submit" busy={busy} disabled={name.trim() === ''}>
        {common.create}
      </Button>
    </form>
  )
}

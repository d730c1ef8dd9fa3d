import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { TagFilesDialog } from '../annotations/index.ts'
import { type Entry, makeFile, makeFolder } from '../api/index.ts'
import { join } from '../paths.ts'
import { LinkManyDialog, ShareDialog, ShareManyDialog } from '../sharing/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, Dialog, FormDialog, TextField } from '../ui/index.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import { FolderPicker } from './folder-picker.tsx'
import { RenameManyDialog } from './rename-many-dialog.tsx'
import type { Changes } from './use-entry-changes.ts'

/** An open dialog of the folder page. */
export type OpenDialog =
  | { readonly kind: 'new-folder' }
  | { readonly kind: 'new-file'; readonly ending: string }
  | { readonly kind: 'copy' | 'move'; readonly names: readonly string[] }
  | { readonly kind: 'share'; readonly path: string; readonly name: string; readonly isDir: boolean }
  | { readonly kind: 'share-many' | 'link-many'; readonly entries: readonly Entry[] }
  | { readonly kind: 'rename-many'; readonly entries: readonly Entry[] }
  | { readonly kind: 'tags'; readonly entries: readonly Entry[] }
  | { readonly kind: 'link'; readonly link: string }

export function OpenedDialog(props: {
  here: CurrentFolder
  dialog: OpenDialog
  changes: Changes
  /** The names of all entries of the folder. */
  names: readonly string[]
  isTaken: (name: string) => boolean
  onMade: (name: string) => void
  onClose: () => void
}) {
  const { here, dialog, changes, onClose } = props
  if (dialog.kind === 'share') {
    const { path, name, isDir } = dialog
    return <ShareDialog libraryId={here.libraryId} path={path} name={name} isDir={isDir} onClose={onClose} />
  }
  if (dialog.kind === 'share-many' || dialog.kind === 'link-many') {
    const items = dialog.entries.map((entry) => ({
      libraryId: here.libraryId,
      path: entryPath(here, entry),
      name: entry.name,
      isDir: entry.type === 'dir',
    }))
    if (dialog.kind === 'share-many') return <ShareManyDialog items={items} onClose={onClose} />
    return <LinkManyDialog items={items} mayWrite={here.editable} onClose={onClose} />
  }
  if (dialog.kind === 'tags') {
    const files = dialog.entries.map((entry) => ({
      libraryId: here.libraryId,
      path: entryPath(here, entry),
      tags: entry.file_tags ?? [],
    }))
    return (
      <Suspense>
        <TagFilesDialog files={files} onClose={onClose} />
      </Suspense>
    )
  }
  if (dialog.kind === 'rename-many') {
    const { entries } = dialog
    return <RenameManyDialog entries={entries} names={props.names} changes={changes} onClose={onClose} />
  }
  if (dialog.kind === 'link') return <LinkDialog link={dialog.link} onClose={onClose} />
  if (dialog.kind === 'copy' || dialog.kind === 'move') {
    return (
      <TransferDialog
        here={here}
        operation={dialog.kind}
        names={dialog.names}
        changes={changes}
        onClose={onClose}
      />
    )
  }
  return <NewDialog {...props} ending={dialog.kind === 'new-file' ? dialog.ending : undefined} />
}

/** Asks for the name of a new file or, without an extension, of a new folder. */
function NewDialog(props: {
  here: CurrentFolder
  ending: string | undefined
  isTaken: (name: string) => boolean
  onMade: (name: string) => void
  onClose: () => void
}) {
  const { here, ending, onMade, onClose } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const queries = useQueryClient()
  const [name, setName] = useState(
    `${ending === undefined ? texts.newFolder : texts.untitled}${ending ?? ''}`,
  )
  async function submit(): Promise<void> {
    if (name.includes('/')) throw new Error(texts.nameHasSlash)
    if (props.isTaken(name.trim().normalize('NFC'))) throw new Error(texts.nameIsTaken(name.trim()))
    const make = ending === undefined ? makeFolder : makeFile
    onMade(await make(here.libraryId, join(here.path, name.trim())))
    await queries.invalidateQueries({ queryKey: ['dir', here.libraryId] })
  }
  return (
    <FormDialog
      title={ending === undefined ? texts.newFolder : texts.newFile}
      submit={common.create}
      disabled={name.trim() === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={ending === undefined ? texts.folderName : texts.fileName}
        value={name}
        maxLength={255}
        autoFocus
        spellCheck={false}
        onFocus={({ target }) => target.setSelectionRange(0, name.length - (ending?.length ?? 0))}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}

function TransferDialog(props: {
  here: CurrentFolder
  operation: 'copy' | 'move'
  names: readonly string[]
  changes: Changes
  onClose: () => void
}) {
  const { here, operation, names, changes } = props
  const { libraryId, libraryName, path } = here
  const texts = useTexts('files')
  const isMove = operation === 'move'
  return (
    <FolderPicker
      title={(isMove ? texts.moveTitle : texts.copyTitle)(names.length, names[0] ?? '')}
      submit={isMove ? texts.moveHere : texts.copyHere}
      start={{ libraryId, libraryName, path }}
      onChoose={(place) => changes.transfer(operation, { libraryId, folder: path, names }, place)}
      onClose={props.onClose}
      isAllowed={(place) => !isMove || place.libraryId !== libraryId || place.path !== path}
    />
  )
}

function LinkDialog(props: { link: string; onClose: () => void }) {
  const texts = useTexts('files')
  const common = useTexts('common')
  return (
    <Dialog
      title={texts.internalLink}
      onClose={props.onClose}
      foot={<Button onClick={props.onClose}>{common.close}</Button>}
    >
      <TextField
        label={texts.internalLink}
        hint={texts.internalLinkHint}
        readOnly
        autoFocus
        value={props.link}
        onFocus={({ target }) => target.select()}
      />
    </Dialog>
  )
}

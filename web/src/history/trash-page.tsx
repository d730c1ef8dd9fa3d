import './history.css'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useParams } from 'wouter'
import {
  canEdit,
  type TrashAction,
  type TrashPart,
  useAccount,
  useLibrary,
  useTrashActions,
} from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { folderUrl, trashUrl, useQueryParams } from '../navigation/index.ts'
import { nameOf, normalizePath } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  ButtonLink,
  CheckField,
  Empty,
  LoadError,
  LoadMore,
  SearchField,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { EmptyTrashDialog } from './empty-trash-dialog.tsx'
import { KeptHistory } from './library-history.tsx'
import { TrashActionRow } from './trash-action.tsx'
import { TrashDays } from './trash-days.tsx'
import { countSelected, partsOf, selectAll, stateOf, type TrashSelection } from './trash-selection.ts'
import { useTrashRestore } from './use-trash-restore.ts'

export default function TrashPage() {
  const { id = '' } = useParams()
  const folder = normalizePath(useQueryParams().get('p') ?? '')
  return (
    <UnlockGate libraryId={id}>
      <Trash key={`${id}${folder}`} libraryId={id} folder={folder} />
    </UnlockGate>
  )
}

/** What was deleted in a library or below a folder, with restore. */
function Trash({ libraryId, folder }: { libraryId: string; folder: string }) {
  const texts = useTexts('history')
  const [typed, setTyped] = useState('')
  const words = useDeferredValue(typed.trim())
  const [emptying, setEmptying] = useState(false)
  const library = useLibrary(libraryId)
  const { data: account } = useAccount()
  useTitle(library.data && `${texts.trashOf} ${library.data.repo_name}`)
  const part = { libraryId, folder, words }
  const trash = useTrashActions(part)
  const error = library.error ?? trash.error
  if (error) return <LoadError error={error} onRetry={() => void trash.refetch()} />
  const actions = trash.data?.pages.flatMap((page) => page.actions)
  const detail = library.data
  const mayEmpty =
    detail !== undefined && !detail.is_virtual && (detail.is_admin || detail.owner_email === account?.email)
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          {texts.trashOf} <bdi>{folder === '/' ? detail?.repo_name : nameOf(folder)}</bdi>
        </h1>
        {mayEmpty && (
          <Button icon={Trash2} disabled={!actions?.length && words === ''} onClick={() => setEmptying(true)}>
            {texts.emptyTrash}
          </Button>
        )}
        <ButtonLink to={folderUrl(libraryId, folder)}>{texts.toLibrary}</ButtonLink>
      </header>
      <KeptHistory libraryId={libraryId} />
      {folder !== '/' && (
        <ButtonLink variant="quiet" className="trash-whole" to={trashUrl(libraryId)}>
          {texts.wholeTrash}
        </ButtonLink>
      )}
      <SearchField label={texts.searchTrash} value={typed} onChange={setTyped} />
      {actions === undefined && <Waiting />}
      {actions?.length === 0 && (
        <Empty
          icon={Trash2}
          title={words === '' ? texts.trashEmpty : texts.nothingFound}
          hint={words === '' ? texts.trashEmptyHint : texts.nothingFoundHint}
        />
      )}
      {actions !== undefined && actions.length > 0 && (
        <Actions
          key={words}
          part={part}
          trash={trash}
          actions={actions}
          mayRestore={detail !== undefined && canEdit(detail)}
        />
      )}
      {emptying && <EmptyTrashDialog libraryId={libraryId} onClose={() => setEmptying(false)} />}
    </div>
  )
}

function Actions(props: {
  part: TrashPart
  trash: ReturnType<typeof useTrashActions>
  actions: readonly TrashAction[]
  mayRestore: boolean
}) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const { part, trash, actions, mayRestore } = props
  const [selection, setSelection] = useState<TrashSelection>(new Map())
  const [isLoadingAll, setLoadingAll] = useState(false)
  const { busy, restore } = useTrashRestore(() => setSelection(new Map()))
  const selected = countSelected(selection, actions)
  const isAll = !trash.hasNextPage && actions.every(({ action }) => stateOf(selection, action) === 'all')
  // Only a part of the actions is loaded at first. All of them are to be chosen.
  async function chooseAll(): Promise<void> {
    let { data, hasNextPage } = trash
    setLoadingAll(true)
    while (hasNextPage) {
      const next = await trash.fetchNextPage()
      if (next.isError) break
      ;({ data, hasNextPage } = next)
    }
    setLoadingAll(false)
    setSelection(selectAll(data?.pages.flatMap((page) => page.actions) ?? []))
  }
  return (
    <div className="trash-list" role="group" aria-label={texts.deletedItems}>
      {mayRestore && (
        <div className="card trash-bar">
          <CheckField
            label={selected === 0 ? texts.chooseAll : texts.chosen(selected)}
            checked={isAll}
            disabled={isLoadingAll}
            onChange={() => (isAll ? setSelection(new Map()) : void chooseAll())}
          />
          <Button
            variant="primary"
            icon={RotateCcw}
            busy={busy}
            disabled={selected === 0}
            onClick={() => void restore(part, partsOf(selection, actions))}
          >
            {common.restore}
          </Button>
        </div>
      )}
      <TrashDays actions={actions}>
        {(one) => (
          <TrashActionRow
            key={one.action}
            part={part}
            action={one}
            selection={selection}
            onSelect={mayRestore ? setSelection : undefined}
            onRestore={
              mayRestore && !busy
                ? (some) => void restore(part, [{ action: one.action, part: some }])
                : undefined
            }
          />
        )}
      </TrashDays>
      {trash.hasNextPage && (
        <LoadMore isBusy={trash.isFetchingNextPage} onMore={() => void trash.fetchNextPage()} />
      )}
    </div>
  )
}

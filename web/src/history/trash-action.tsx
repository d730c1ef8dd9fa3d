import { ChevronDown, RotateCcw } from 'lucide-react'
import { useId, useState } from 'react'
import { Link } from 'wouter'
import {
  type RestoredPart,
  type TrashAction,
  type TrashItem,
  type TrashPart,
  trashPath,
  useTrashOfAction,
} from '../api/index.ts'
import { trashUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  IconButton,
  LoadError,
  LoadMore,
  Sentence,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import { TrashRow, trashItemUrl } from './trash-row.tsx'
import {
  isSelected,
  sizeOf,
  stateOf,
  type TrashSelection,
  toggleAction,
  toggleItem,
} from './trash-selection.ts'

interface TrashActionProps {
  readonly part: TrashPart
  /** Shown in the trash of all libraries. */
  readonly libraryName?: string
  readonly action: TrashAction
  readonly selection: TrashSelection
  /** Undefined if nothing can be selected. */
  readonly onSelect: ((selection: TrashSelection) => void) | undefined
  readonly onRestore: ((part: RestoredPart) => void) | undefined
}

/** What one person deleted at once: one line, and the entries below it. */
export function TrashActionRow(props: TrashActionProps) {
  const { part, action, selection, onSelect, onRestore } = props
  const texts = useTexts('history')
  const formats = useFormats()
  const count = sizeOf(action)
  const isComplete = count <= action.items.length
  const [isOpen, setOpen] = useState(isComplete)
  const listId = useId()
  const [only] = count === 1 ? action.items : []
  const label = only ? only.obj_name : texts.itemsDeletedBy(count, action.deleted_by_name)
  const state = stateOf(selection, action.action)
  return (
    <li className="trash-action">
      <div className={`trash-action-head${state === 'none' ? '' : ' trash-chosen'}`}>
        {onSelect && (
          <input
            type="checkbox"
            className="history-check"
            aria-label={texts.choose(label)}
            checked={state === 'all'}
            ref={(box) => {
              if (box) box.indeterminate = state === 'some'
            }}
            onChange={() => onSelect(toggleAction(selection, action))}
          />
        )}
        <Avatar email={action.deleted_by} name={action.deleted_by_name} url={action.avatar_url} size={30} />
        <div className="history-what">
          <p className="trash-action-what">
            <WhatWasDeleted libraryId={part.libraryId} action={action} only={only} />
          </p>
          <p className="muted history-who">
            <time dateTime={action.deleted_time} title={formats.moment(action.deleted_time)}>
              {formats.time(action.deleted_time)}
            </time>
            {props.libraryName !== undefined && (
              <Link to={trashUrl(part.libraryId)}>
                <bdi>{props.libraryName}</bdi>
              </Link>
            )}
            {only && only.parent_dir !== '/' && <bdi>{only.parent_dir.replace(/\/$/, '')}</bdi>}
            {only && !only.is_dir && <span>{formats.size(only.size)}</span>}
            {!only && !isOpen && <FirstNames action={action} />}
          </p>
        </div>
        {!only && (
          <IconButton
            label={isOpen ? texts.hideItems : texts.showItems(count)}
            icon={ChevronDown}
            className={isOpen ? 'history-open' : ''}
            aria-expanded={isOpen}
            aria-controls={listId}
            onClick={() => setOpen(!isOpen)}
          />
        )}
        {onRestore && (
          <RestoreButton label={texts.restoreThis(label)} onRestore={() => onRestore({ except: [] })} />
        )}
      </div>
      {!only && isOpen && (
        <div id={listId}>
          {isComplete ? <Items {...props} items={action.items} /> : <AllItems {...props} />}
        </div>
      )}
    </li>
  )
}

function RestoreButton(props: { label: string; onRestore: () => void }) {
  const common = useTexts('common')
  return (
    <Button variant="quiet" icon={RotateCcw} aria-label={props.label} onClick={props.onRestore}>
      <span className="trash-restore-text">{common.restore}</span>
    </Button>
  )
}

function WhatWasDeleted(props: { libraryId: string; action: TrashAction; only: TrashItem | undefined }) {
  const texts = useTexts('history')
  const { action, only } = props
  const who = (
    <strong>
      <bdi>{action.deleted_by_name || texts.system}</bdi>
    </strong>
  )
  if (only) {
    const what = (
      <Link to={trashItemUrl(props.libraryId, only)} className="history-entry-inline" title={only.obj_name}>
        <bdi>{visibleName(only.obj_name)}</bdi>
      </Link>
    )
    const sentence = only.is_dir ? texts.sentences.deletedFolder : texts.sentences.deleted
    return <Sentence sentence={sentence} parts={{ who, what }} />
  }
  const { files, folders } = action
  const sentence =
    folders === 0
      ? texts.deletedFiles(files)
      : files === 0
        ? texts.deletedFolders(folders)
        : texts.deletedMixed(files + folders)
  return <Sentence sentence={sentence} parts={{ who }} />
}

/** The names of the first entries, while the others are not shown. */
function FirstNames({ action }: { action: TrashAction }) {
  const texts = useTexts('history')
  const left = sizeOf(action) - action.items.length
  const names = action.items.map(({ obj_name: name }) => visibleName(name)).join(', ')
  return (
    <span className="trash-action-names">
      <bdi>{names}</bdi> {left > 0 && texts.andMore(left)}
    </span>
  )
}

function Items(props: TrashActionProps & { items: readonly TrashItem[] }) {
  const { part, action, selection, onSelect, onRestore } = props
  return (
    <ul className="trash-items">
      {props.items.map((item) => {
        const path = trashPath(item)
        return (
          <TrashRow
            key={path}
            libraryId={part.libraryId}
            item={item}
            chosen={isSelected(selection, action.action, path)}
            onChoose={onSelect && (() => onSelect(toggleItem(selection, action, path)))}
            onRestore={onRestore && (() => onRestore({ only: [path] }))}
          />
        )
      })}
    </ul>
  )
}

function AllItems(props: TrashActionProps) {
  const found = useTrashOfAction(props.part, props.action.action)
  if (found.isPending) return <Waiting />
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} />
  return (
    <>
      <Items {...props} items={found.data.pages.flatMap(({ items }) => items)} />
      {found.hasNextPage && (
        <LoadMore isBusy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
      )}
    </>
  )
}

import { Link2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { ActivityItem } from '../api/index.ts'
import { fileUrl, folderUrl, historyUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Avatar, FileIcon, Sentence, visibleName } from '../ui/index.ts'
import type { ActivityGroup } from './activity-groups.ts'

const MAX_SHOWN = 5

/** One group of the activity feed. */
export function ActivityRow(props: { group: ActivityGroup }) {
  const { items, count, folder } = props.group
  const [first] = items
  const texts = useTexts('activity')
  const formats = useFormats()
  const isGone = first.obj_type === 'repo' && first.op_type === 'delete'
  return (
    <li className="activity-group">
      {first.via_link ? (
        <span className="activity-visitor">
          <Link2 size={18} aria-hidden />
        </span>
      ) : (
        <Avatar email={first.author_email} name={first.author_name} url={first.avatar_url} size={34} />
      )}
      <div className="activity-group-text">
        <p className="activity-group-sentence">
          <GroupSentence items={items} count={count} />
        </p>
        {count > 1 && <Things items={items} count={count} />}
        <p className="activity-group-about">
          {first.obj_type !== 'repo' && !isGone && (
            <Link to={folderUrl(first.repo_id, folder)}>
              <bdi>{first.repo_name}</bdi>
              {folder !== '/' && <bdi>{folder}</bdi>}
            </Link>
          )}
          {first.via_link && (
            <span>
              <Sentence sentence={texts.throughLink} parts={{ name: <bdi>{first.author_name}</bdi> }} />
            </span>
          )}
          <time dateTime={first.time} title={formats.moment(first.time)}>
            {formats.ago(first.time)}
          </time>
        </p>
      </div>
    </li>
  )
}

function GroupSentence(props: Pick<ActivityGroup, 'items' | 'count'>) {
  const texts = useTexts('activity')
  const { items, count } = props
  const [first] = items
  const who = (
    <strong>
      <bdi>{first.via_link ? texts.visitor : first.author_name}</bdi>
    </strong>
  )
  if (count > 1) {
    const sentence = texts.many[first.obj_type === 'dir' ? 'dir' : 'file'][first.op_type]
    return <Sentence sentence={sentence(count)} parts={{ who }} />
  }
  const what = <Thing item={first} />
  const old = <bdi>{first.old_repo_name ?? first.old_name}</bdi>
  const isMove = first.op_type === 'move'
  const folder = isMove && <FolderName item={first} />
  return <Sentence sentence={texts.one[first.obj_type][first.op_type]} parts={{ who, what, old, folder }} />
}

function FolderName({ item }: { item: ActivityItem }) {
  const folder = parentOf(item.path)
  return (
    <Link to={folderUrl(item.repo_id, folder)}>
      <bdi>{folder === '/' ? item.repo_name : nameOf(folder)}</bdi>
    </Link>
  )
}

/** The name of the changed entry, as a link unless it was deleted. */
function Thing({ item }: { item: ActivityItem }): ReactNode {
  const { obj_type: kind, op_type: op, repo_id: id, path } = item
  const name = (
    <bdi title={visibleName(path)}>{visibleName(kind === 'repo' ? item.repo_name : item.name)}</bdi>
  )
  if (op === 'delete') return <em className="activity-group-gone">{name}</em>
  const to = kind === 'file' ? fileUrl(id, path) : folderUrl(id, path)
  return <Link to={to}>{name}</Link>
}

function Things(props: Pick<ActivityGroup, 'items' | 'count'>) {
  const texts = useTexts('activity')
  const formats = useFormats()
  const [isOpen, setOpen] = useState(false)
  const { items, count } = props
  const rest = items.slice(MAX_SHOWN)
  const left = count - Math.min(items.length, MAX_SHOWN)
  const unlisted = count - items.length
  return (
    <>
      <ThingList items={items.slice(0, MAX_SHOWN)} />
      {left > 0 && (
        <details className="activity-group-rest" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{texts.andMore(left, formats.number(left))}</summary>
          {/* There may be thousands. */}
          {isOpen && (
            <>
              <ThingList items={rest} />
              {unlisted > 0 && (
                <Link to={historyUrl(items[0].repo_id)}>
                  {texts.andMore(unlisted, formats.number(unlisted))}
                </Link>
              )}
            </>
          )}
        </details>
      )}
    </>
  )
}

function ThingList(props: { items: readonly ActivityItem[] }) {
  return (
    <ul className="activity-group-things">
      {props.items.map((item) => (
        <li key={`${item.commit_id}${item.path}`}>
          <FileIcon name={item.name} isDir={item.obj_type === 'dir'} size={17} />
          <span>
            <Thing item={item} />
          </span>
        </li>
      ))}
    </ul>
  )
}

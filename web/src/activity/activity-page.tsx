import './activity.css'
import { Activity } from 'lucide-react'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { useAccount, useActivities } from '../api/index.ts'
import { useQueryParams } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Empty, LoadError, LoadMore, useTitle, Waiting } from '../ui/index.ts'
import { dayOf, groupByDay } from './activity-groups.ts'
import { ActivityRow } from './activity-row.tsx'

/** Activity feed of all libraries, by day. */
export default function ActivityPage() {
  const texts = useTexts('activity')
  const query = useQueryParams()
  const [, go] = useLocation()
  const { data: account } = useAccount()
  const isMine = query.get('who') === 'me'
  useTitle(texts.title)
  return (
    <div className="page activity">
      <div className="page-head">
        <h1>{texts.title}</h1>
        <div className="activity-whose" role="group" aria-label={texts.whose}>
          {[false, true].map((mine) => (
            <button
              key={String(mine)}
              type="button"
              className="tab"
              aria-pressed={isMine === mine}
              onClick={() => go(mine ? '/activity?who=me' : '/activity', { replace: true })}
            >
              {mine ? texts.mine : texts.everyone}
            </button>
          ))}
        </div>
      </div>
      {isMine && account === undefined ? <Waiting /> : <Days author={isMine ? (account?.email ?? '') : ''} />}
    </div>
  )
}

/** After a bulk upload the feed has as many rows as files. Pages are loaded until there is something else to read. */
const ENOUGH_GROUPS = 10
const MAX_ROWS = 2000

function Days(props: { author: string }) {
  const texts = useTexts('activity')
  const found = useActivities(props.author)
  const rows = found.data?.pages.flat() ?? []
  const days = groupByDay(rows)
  const groups = days.reduce((sum, day) => sum + day.groups.length, 0)
  const isShort = groups < ENOUGH_GROUPS && rows.length < MAX_ROWS
  const { fetchNextPage, hasNextPage, isFetching, isError } = found
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage])
  if (found.isPending) return <Waiting />
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} />
  if (days.length === 0) return <Empty icon={Activity} title={texts.nothing} hint={texts.nothingHint} />
  return (
    <>
      {days.map(({ day, groups }) => (
        <section key={day} className="activity-day">
          <DayTitle day={day} />
          <ul className="activity-groups">
            {groups.map((group) => (
              <ActivityRow key={keyOf(group.items.at(-1) ?? group.items[0])} group={group} />
            ))}
          </ul>
        </section>
      ))}
      {found.hasNextPage && (
        <LoadMore isBusy={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
      )}
    </>
  )
}

const keyOf = (item: { repo_id: string; commit_id: string; path: string; time: string; op_type: string }) =>
  `${item.repo_id}${item.commit_id}${item.op_type}${item.path}${item.time}`

const DAY_MS = 86_400_000

function DayTitle(props: { day: string }) {
  const texts = useTexts('activity')
  const formats = useFormats()
  const { day } = props
  const now = Date.now()
  const known = { [dayOf(new Date(now))]: texts.today, [dayOf(new Date(now - DAY_MS))]: texts.yesterday }
  return <h2>{known[day] ?? formats.day(`${day}T12:00:00`)}</h2>
}

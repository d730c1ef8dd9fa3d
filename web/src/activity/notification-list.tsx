import { BellOff, CheckCheck } from 'lucide-react'
import { useMarkSeen, useNotifications } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, Empty, LoadError, useFailureToast, Waiting } from '../ui/index.ts'
import { NotificationRow } from './notification-row.tsx'

export default function NotificationList(props: { onLeave: () => void }) {
  const texts = useTexts('activity')
  const common = useTexts('common')
  const found = useNotifications()
  const tellFailure = useFailureToast()
  const { mutate } = useMarkSeen()
  const markSeen = (id: number | 'all') => mutate(id, { onError: tellFailure })
  const pages = found.data?.pages ?? []
  const items = pages.flatMap((page) => page.notification_list)
  return (
    <>
      <header className="notifications-head">
        <h2>{texts.notifications}</h2>
        {(pages[0]?.unseen_count ?? 0) > 0 && (
          <Button variant="quiet" icon={CheckCheck} onClick={() => markSeen('all')}>
            {texts.markAll}
          </Button>
        )}
      </header>
      <div className="notifications-body">
        {found.isPending && <Waiting />}
        {found.isError && <LoadError error={found.error} onRetry={() => void found.refetch()} />}
        {found.isSuccess && items.length === 0 && (
          <Empty icon={BellOff} title={texts.noNotifications} hint={texts.noNotificationsHint} />
        )}
        {items.length > 0 && (
          <ul className="notifications-list">
            {items.map((item) => (
              <NotificationRow
                key={item.id}
                item={item}
                onSeen={() => markSeen(item.id)}
                onLeave={props.onLeave}
              />
            ))}
          </ul>
        )}
        {found.hasNextPage && (
          <div className="notifications-more">
            <Button
              variant="quiet"
              busy={found.isFetchingNextPage}
              onClick={() => void found.fetchNextPage()}
            >
              {common.loadMore}
            </Button>
          </div>
        )}
      </div>
    </>
  )
}

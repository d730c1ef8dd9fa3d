export const photos = {
  title: 'Photos',
  count: (total: number, shown: string) => (total === 1 ? '1 item' : `${shown} items`),
  empty: 'No photos yet',
  emptyHint:
    'Photos and videos in your libraries appear here by the date they were taken. Encrypted libraries are left out.',
  dates: 'Dates',
  goTo: 'Go to month',
  backToPhotos: 'Back to photos',
  deleteTitle: (total: number, shown: string) =>
    total === 1 ? 'Delete this item?' : `Delete ${shown} items?`,
  deleteHint: 'They move to the trash of their libraries.',
}

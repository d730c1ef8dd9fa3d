import type { Texts } from '../en/index.ts'

export const photos: Texts['photos'] = {
  title: '照片',
  count: (_total, shown) => `${shown} 项`,
  empty: '还没有照片',
  emptyHint: '资料库中的照片和视频会按拍摄日期显示在这里。加密资料库除外。',
  dates: '日期',
  goTo: '跳转到月份',
  backToPhotos: '返回照片',
  deleteTitle: (_total, shown) => `删除 ${shown} 项？`,
  deleteHint: '它们会移到所在资料库的回收站。',
}

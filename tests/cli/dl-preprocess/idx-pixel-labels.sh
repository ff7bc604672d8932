# A class for each pixel, as a U-Net wants: 2 images of 2x2, labels of 0..2
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\2\1\2\3\4\5\6\7\10' >images.idx
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\2\0\1\1\2\2\2\0\0' >labels.idx
dl-preprocess idx --classes 3 images.idx labels.idx -o a.dls
dl-shard --info a.dls
# Both images have a label that is no class.
dl-preprocess idx --classes 2 --max-bad 2 images.idx labels.idx -o b.dls
dl-preprocess idx --classes 2 images.idx labels.idx -o c.dls

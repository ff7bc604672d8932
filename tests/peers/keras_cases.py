"""Models of Keras for which dl-import must give the same outputs: one for each
layer and setting that it knows, as NAME: (build, shapes of inputs).

A model is followed by a dense layer where it has no weights of its own, as networks
without any cannot be trained.
"""

import keras
from keras import layers as L

CASES = {}
FIRST = ("conv2d_same_1", "depthwise2d_valid_2", "separable2d_same_2", "conv2d_transpose_same_2", "max_pool2d_same_2",
         "global_average2d_kept", "zero_padding2d", "cropping2d", "upsampling2d", "batch_norm_3", "spatialdropout2d",
         "residual", "concatenate_first", "conv3d_same_2", "max_pool3d_valid_1")
"""Cases that are run with their channels first as well: TensorFlow has no such on a
CPU, so that the configuration is changed, and the input turned round."""


def case(*shapes, tokens=0):
    def add(build):
        CASES[build.__name__] = (build, shapes, tokens)
        return build

    return add


def chain(name, shape, *make, tokens=0):
    """A model of layers, each made when it is needed."""

    def build():
        return keras.Sequential([keras.Input(shape), *[m() for m in make]], name=name)

    CASES[name] = (build, (shape,), tokens)


IMAGE, SERIES, ROW, VOLUME = (9, 8, 4), (7, 5), (6,), (4, 6, 5, 3)


def dense(units=3, **more):
    return lambda: L.Dense(units, **more)


def over(name, shape, make, *more):
    """A layer without weights, between two that have some."""
    first = {1: dense(6), 2: lambda: L.Conv1D(5, 1), 3: lambda: L.Conv2D(4, 1),
             4: lambda: L.Conv3D(3, 1)}[len(shape)]
    chain(name, shape, first, make, *more, L.Flatten, dense(3))


for activation in ("relu", "relu6", "elu", "selu", "gelu", "sigmoid", "tanh", "softplus", "softsign",
                   "silu", "mish", "exponential", "hard_sigmoid", "hard_silu", "log_sigmoid",
                   "softmax", "log_softmax", "linear", "leaky_relu", "hard_tanh", "tanh_shrink"):
    chain(f"dense_{activation}", ROW, dense(5, activation=activation), dense(2))
    chain(f"conv2d_{activation}", IMAGE, lambda a=activation: L.Conv2D(3, 3, activation=a))
for units, shape in ((4, SERIES), (4, IMAGE), (4, VOLUME)):
    chain(f"dense_of_{len(shape)}", shape, dense(units, activation="tanh"), dense(2))
chain("dense_no_bias", ROW, dense(5, use_bias=False), dense(2, activation="softmax"))
chain("dense_softmax_of_series", SERIES, dense(4, activation="softmax"))
over("relu_layer", ROW, lambda: L.ReLU())
over("relu_layer_max", ROW, lambda: L.ReLU(max_value=0.5))
over("relu_layer_slope", ROW, lambda: L.ReLU(negative_slope=0.2))
over("relu_layer_all", ROW, lambda: L.ReLU(max_value=0.7, negative_slope=0.1, threshold=0.1))
over("relu_layer_threshold", ROW, lambda: L.ReLU(threshold=0.1))
over("leaky_relu_layer", ROW, lambda: L.LeakyReLU())
over("elu_layer", ROW, lambda: L.ELU(0.6))
over("softmax_layer", IMAGE, lambda: L.Softmax())
over("prelu", ROW, lambda: L.PReLU("uniform"))
over("prelu_image", IMAGE, lambda: L.PReLU("uniform"))
over("prelu_shared", IMAGE, lambda: L.PReLU("uniform", shared_axes=[1, 2]))
over("prelu_shared_one", IMAGE, lambda: L.PReLU("uniform", shared_axes=[1]))
over("activation_layer", ROW, lambda: L.Activation("tanh"))
over("identity", ROW, lambda: L.Identity())

for padding in ("valid", "same"):
    for stride in (1, 2):
        p, s = padding, stride
        chain(f"conv1d_{p}_{s}", SERIES, lambda p=p, s=s: L.Conv1D(4, 3, s, p, activation="relu"))
        chain(f"conv2d_{p}_{s}", IMAGE, lambda p=p, s=s: L.Conv2D(5, (3, 2), s, p))
        chain(f"conv3d_{p}_{s}", VOLUME, lambda p=p, s=s: L.Conv3D(4, (2, 3, 2), s, p))
        chain(f"depthwise2d_{p}_{s}", IMAGE, lambda p=p, s=s: L.DepthwiseConv2D(3, s, p, 2))
        chain(f"depthwise1d_{p}_{s}", SERIES, lambda p=p, s=s: L.DepthwiseConv1D(3, s, p, 2))
        chain(f"separable2d_{p}_{s}", IMAGE, lambda p=p, s=s: L.SeparableConv2D(6, 3, s, p, depth_multiplier=2))
        chain(f"separable1d_{p}_{s}", SERIES, lambda p=p, s=s: L.SeparableConv1D(6, 3, s, p, activation="tanh"))
        chain(f"conv2d_transpose_{p}_{s}", IMAGE, lambda p=p, s=s: L.Conv2DTranspose(5, 3, s, p))
        chain(f"conv1d_transpose_{p}_{s}", SERIES, lambda p=p, s=s: L.Conv1DTranspose(5, 3, s, p))
        for kind in ("Max", "Average"):
            for n, shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)):
                make = getattr(L, f"{kind}Pooling{n}D")
                over(f"{kind.lower()}_pool{n}d_{p}_{s}", shape, lambda m=make, p=p, s=s: m(3, s, p))
chain("conv1d_causal", SERIES, lambda: L.Conv1D(4, 3, padding="causal", dilation_rate=2))
chain("conv2d_dilated", IMAGE, lambda: L.Conv2D(4, 3, dilation_rate=2, padding="same"))
chain("conv2d_groups", IMAGE, lambda: L.Conv2D(6, 3, groups=2, activation="relu"))
chain("conv2d_by_channel", IMAGE, lambda: L.Conv2D(8, 3, groups=4))
chain("conv1d_groups", (7, 6), lambda: L.Conv1D(4, 3, groups=2))
chain("conv2d_no_bias", IMAGE, lambda: L.Conv2D(4, 3, use_bias=False))
chain("conv2d_transpose_even", IMAGE, lambda: L.Conv2DTranspose(5, 4, 2, "same", activation="relu"))
for kind in ("Max", "Average"):
    for n, shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)):
        make = getattr(L, f"Global{kind}Pooling{n}D")
        over(f"global_{kind.lower()}{n}d", shape, make)
        over(f"global_{kind.lower()}{n}d_kept", shape, lambda m=make: m(keepdims=True))

over("flatten", IMAGE, L.Flatten)
over("reshape", IMAGE, lambda: L.Reshape((8, -1)))
over("permute", IMAGE, lambda: L.Permute((3, 1, 2)))
chain("permute_then_dense", SERIES, lambda: L.Conv1D(4, 1), lambda: L.Permute((2, 1)), dense(3))
chain("repeat_vector", ROW, dense(4), lambda: L.RepeatVector(3), lambda: L.LSTM(3))
over("zero_padding1d", SERIES, lambda: L.ZeroPadding1D((1, 2)))
over("zero_padding2d", IMAGE, lambda: L.ZeroPadding2D(((1, 2), (3, 0))))
over("zero_padding3d", VOLUME, lambda: L.ZeroPadding3D(((1, 0), (0, 2), (1, 1))))
over("cropping1d", SERIES, lambda: L.Cropping1D((1, 2)))
over("cropping2d", IMAGE, lambda: L.Cropping2D(((1, 2), (3, 0))))
over("cropping3d", VOLUME, lambda: L.Cropping3D(((1, 0), (0, 2), (1, 1))))
over("center_crop", IMAGE, lambda: L.CenterCrop(4, 5))
for kind in ("Max", "Average"):
    for n, shape, sizes in ((1, (8, 5), 4), (2, (9, 8, 4), (3, 4)), (3, (4, 6, 5, 3), (2, 3, 5))):
        over(f"adaptive_{kind.lower()}{n}d", shape,
             lambda k=kind, n=n, s=sizes: getattr(L, f"Adaptive{k}Pooling{n}D")(s))
over("upsampling1d", SERIES, lambda: L.UpSampling1D(3))
over("upsampling2d", IMAGE, lambda: L.UpSampling2D((2, 3)))
over("upsampling2d_bilinear", IMAGE, lambda: L.UpSampling2D(2, interpolation="bilinear"))
over("upsampling3d", VOLUME, lambda: L.UpSampling3D((2, 1, 3)))

for shape in (ROW, SERIES, IMAGE):
    over(f"batch_norm_{len(shape)}", shape, L.BatchNormalization)
    over(f"layer_norm_{len(shape)}", shape, L.LayerNormalization)
over("batch_norm_plain", IMAGE, lambda: L.BatchNormalization(center=False, scale=False))
over("batch_norm_scale", IMAGE, lambda: L.BatchNormalization(center=False))
over("batch_norm_center", IMAGE, lambda: L.BatchNormalization(scale=False, epsilon=0.1))
over("layer_norm_plain", SERIES, lambda: L.LayerNormalization(center=False, scale=False))
over("group_norm", IMAGE, lambda: L.GroupNormalization(2))
over("group_norm_series", (7, 4), lambda: L.GroupNormalization(5))
over("instance_norm", IMAGE, lambda: L.GroupNormalization(-1))
over("unit_norm", ROW, L.UnitNormalization)
over("rms_norm", ROW, lambda: L.RMSNormalization())
over("rms_norm_image", IMAGE, lambda: L.RMSNormalization(epsilon=0.1))
over("rescaling", IMAGE, lambda: L.Rescaling(0.5, -1.0))
over("rescaling_each", IMAGE, lambda: L.Rescaling([0.5, 1, 2, 3], [1, 2, 3, 4]))
over("normalization", IMAGE, lambda: L.Normalization(mean=[1, 2, 3, 4], variance=[1, 2, 3, 4]))
over("spatialdropout1d", SERIES, lambda: L.SpatialDropout1D(0.3))
over("spatialdropout3d", VOLUME, lambda: L.SpatialDropout3D(0.3))
for noise in ("Dropout", "SpatialDropout2D", "GaussianDropout", "AlphaDropout", "GaussianNoise"):
    over(noise.lower(), IMAGE, lambda n=noise: getattr(L, n)(0.3))
over("dropout of branches", IMAGE, lambda: L.Dropout(0.3, noise_shape=(None, 1, 1, 1)))
over("dropout of channels", IMAGE, lambda: L.Dropout(0.3, noise_shape=(None, 1, 1, None)))
over("activity", ROW, lambda: L.ActivityRegularization(0.1, 0.2))

for cell in ("LSTM", "GRU", "SimpleRNN"):
    make = getattr(L, cell)
    name = cell.lower()
    chain(name, SERIES, lambda m=make: m(4))
    chain(f"{name}_sequences", SERIES, lambda m=make: m(4, return_sequences=True), dense(2))
    chain(f"{name}_stacked", SERIES, lambda m=make: m(4, return_sequences=True), lambda m=make: m(3))
    chain(f"{name}_no_bias", SERIES, lambda m=make: m(4, use_bias=False))
    chain(f"{name}_relu", SERIES, lambda m=make: m(4, activation="relu"))
    chain(f"{name}_backwards", SERIES, lambda m=make: m(4, go_backwards=True, return_sequences=True), dense(2))
    for merge in ("concat", "sum", "mul", "ave"):
        chain(f"bidirectional_{name}_{merge}", SERIES,
              lambda m=make, w=merge: L.Bidirectional(m(4), merge_mode=w))
    chain(f"bidirectional_{name}_sequences", SERIES,
          lambda m=make: L.Bidirectional(m(4, return_sequences=True)), dense(2))
    chain(f"rnn_of_{name}_cell", SERIES, lambda c=cell: L.RNN(getattr(L, c + "Cell")(4)))
    chain(f"masking_{name}", SERIES, lambda: L.Masking(0.0), lambda m=make: m(4))
    chain(f"masking_{name}_flat", SERIES, lambda: L.Masking(0.0), lambda m=make: m(4, return_sequences=True),
          L.Flatten, dense(3))
    chain(f"masking_{name}_backwards", SERIES, lambda: L.Masking(0.0),
          lambda m=make: m(4, return_sequences=True, go_backwards=True), lambda: L.LSTM(3))
    chain(f"embedding_mask_{name}", (7,), lambda: L.Embedding(11, 4, mask_zero=True),
          lambda m=make: m(4), tokens=11)
chain("masking_max", SERIES, lambda: L.Masking(0.0), lambda: L.LSTM(4, return_sequences=True), L.GlobalMaxPooling1D,
      dense(3))
chain("masking_conv", SERIES, lambda: L.Masking(0.0), lambda: L.GRU(4, return_sequences=True), lambda: L.Dense(3),
      lambda: L.Conv1D(3, 3), L.Flatten, dense(2))
chain("masking_ones", SERIES, lambda: L.Rescaling(1.0, 1.0), lambda: L.Masking(1.0), L.Flatten, dense(3))
chain("masking_zeros", SERIES, lambda: L.Masking(0.0),
      lambda: L.LSTM(4, return_sequences=True, zero_output_for_mask=True), L.Flatten, dense(3))
chain("masking_both_ways", SERIES, lambda: L.Masking(0.0),
      lambda: L.Bidirectional(L.LSTM(4, return_sequences=True)), L.Flatten, dense(3))
chain("gru_reset_before", SERIES, lambda: L.GRU(4, reset_after=False))
chain("embedding", (7,), lambda: L.Embedding(11, 4), L.Flatten, dense(3), tokens=11)
chain("embedding_average", (7,), lambda: L.Embedding(11, 4, mask_zero=True),
      L.GlobalAveragePooling1D, dense(3), tokens=11)
chain("embedding_max", (7,), lambda: L.Embedding(11, 4, mask_zero=True),
      L.GlobalMaxPooling1D, dense(3), tokens=11)
chain("embedding_conv", (7,), lambda: L.Embedding(11, 4), lambda: L.Conv1D(3, 3), L.GlobalMaxPooling1D,
      dense(1, activation="sigmoid"), tokens=11)

chain("einsum_dense", SERIES, lambda: L.EinsumDense("abc,cd->abd", (None, 4), bias_axes="d", activation="tanh"),
      dense(2))
chain("einsum_dense_plain", ROW, lambda: L.EinsumDense("ab,bc->ac", 4), dense(2))
chain("time_distributed_dense", SERIES, lambda: L.TimeDistributed(L.Dense(3)), lambda: L.LSTM(2))
chain("time_distributed_conv", (5, 8, 7, 2), lambda: L.TimeDistributed(L.Conv2D(3, 3)),
      lambda: L.TimeDistributed(L.BatchNormalization()), lambda: L.TimeDistributed(L.MaxPooling2D()),
      lambda: L.TimeDistributed(L.Flatten()), lambda: L.LSTM(4), dense(3))

for merge in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):

    def build(m=merge):
        a, b = keras.Input(SERIES, name="a"), keras.Input(SERIES, name="b")
        return keras.Model([a, b], L.Dense(3)(L.Flatten()(getattr(L, m)()([L.Dense(4)(a), L.Dense(4)(b)]))))

    CASES[merge.lower()] = (build, (SERIES, SERIES), 0)

    def build(m=merge):
        a = keras.Input(IMAGE, name="a")
        gate = L.Reshape((1, 1, 4))(L.Dense(4, "sigmoid")(L.GlobalAveragePooling2D()(a)))
        return keras.Model(a, getattr(L, m)()([L.Conv2D(4, 1)(a), gate]))

    if merge != "Concatenate":
        CASES[merge.lower() + "_repeated"] = (build, (IMAGE,), 0)


@case(IMAGE, IMAGE)
def concatenate_rows():
    a, b = keras.Input(IMAGE), keras.Input(IMAGE)
    return keras.Model([a, b], L.Conv2D(3, 2)(L.Concatenate(axis=1)([a, b])))


@case(IMAGE)
def multiply_by_map():
    a = keras.Input(IMAGE)
    return keras.Model(a, L.Multiply()([L.Conv2D(4, 1)(a), L.Conv2D(1, 1, activation="sigmoid")(a)]))


@case(ROW, ROW)
def dot():
    a, b = keras.Input(ROW), keras.Input(ROW)
    return keras.Model([a, b], L.Dense(2)(L.Dot(1)([L.Dense(4)(a), L.Dense(4)(b)])))


@case(ROW, ROW)
def dot_normalized():
    a, b = keras.Input(ROW), keras.Input(ROW)
    return keras.Model([a, b], L.Dot(1, normalize=True)([L.Dense(4)(a), L.Dense(4)(b)]))


@case(IMAGE)
def concatenate_first():
    a = keras.Input(IMAGE)
    x = L.Concatenate()([L.Conv2D(4, 1)(a), L.Conv2D(2, 3, padding="same")(a)])
    return keras.Model(a, L.Dense(2)(L.Flatten()(L.MaxPooling2D()(x))))


@case(ROW)
def numbers():
    a = keras.Input(ROW)
    x = L.Dense(4)(a)
    return keras.Model(a, L.Dense(2)((1 - (x + 3.0) * 0.5) / 4 - 2.0))


@case(ROW)
def operators():
    a = keras.Input(ROW)
    b, c = L.Dense(4)(a), L.Dense(4)(a)
    return keras.Model(a, keras.ops.relu(b + c) * c - b)


@case(ROW, ROW)
def shared_layer():
    a, b = keras.Input(ROW), keras.Input(ROW)
    code = L.Dense(4, activation="tanh")
    return keras.Model([a, b], L.Dense(1, activation="sigmoid")(L.Subtract()([code(a), code(b)])))


@case(IMAGE, IMAGE)
def shared_model():
    inside = keras.Input(IMAGE)
    code = keras.Model(inside, L.GlobalAveragePooling2D()(L.BatchNormalization()(L.Conv2D(4, 3)(inside))))
    a, b = keras.Input(IMAGE), keras.Input(IMAGE)
    return keras.Model([a, b], L.Dense(2)(L.Concatenate()([code(a), code(b)])))


@case(IMAGE)
def nested():
    first = keras.Sequential([keras.Input(IMAGE), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU()])
    inside = keras.Input((7, 6, 4))
    second = keras.Model(inside, L.Add()([inside, L.Conv2D(4, 3, padding="same")(inside)]))
    a = keras.Input(IMAGE)
    return keras.Model(a, L.Dense(3, activation="softmax")(L.Flatten()(second(second(first(a))))))


@case(ROW)
def names_with_dots():
    inside = keras.Input(ROW)
    code = keras.Model(inside, L.Dense(ROW[0], name="d")(inside), name="enc")
    a = keras.Input(ROW)
    return keras.Model(a, L.Dense(ROW[0], name="enc.d")(code(a)))


@case(SERIES)
def masking_in_a_graph():
    a = keras.Input(SERIES)
    x = L.LSTM(4, return_sequences=True)(L.Masking(0.0)(a))
    return keras.Model(a, L.Dense(2)(L.Bidirectional(L.GRU(3))(x)))


@case((7,), tokens=11)
def padding_in_a_graph():
    a = keras.Input((7,))
    x = L.Embedding(11, 4, mask_zero=True)(a)
    x = L.Add()([x, L.Dense(4)(x)])
    return keras.Model(a, L.Dense(2)(L.Concatenate()([L.LSTM(3)(x), L.GlobalAveragePooling1D()(x)])))


@case(SERIES)
def masking_of_the_last_step():
    a = keras.Input(SERIES)
    x = L.LSTM(4, return_sequences=True)(L.Masking(0.0)(a))
    return keras.Model(a, L.Dense(2)(x[:, -1]))


@case((3, 8, 7, 2))
def time_distributed_model():
    inside = keras.Input((8, 7, 2))
    x = L.Conv2D(3, 3, padding="same", activation="relu")(inside)
    x = L.Concatenate()([x, L.BatchNormalization()(L.Conv2D(3, 3, padding="same")(x))])
    each = keras.Model(inside, L.Dense(4, activation="tanh")(L.Flatten()(L.MaxPooling2D()(x))))
    a = keras.Input((3, 8, 7, 2))
    return keras.Model(a, L.Dense(2)(L.LSTM(3)(L.TimeDistributed(each)(a))))


@case(IMAGE)
def nothing_to_train():
    a = keras.Input(IMAGE)
    return keras.Model(a, L.MaxPooling2D()(a))


@case((7,), tokens=11)
def attention_in_padding():
    a = keras.Input((7,))
    x = L.Embedding(11, 4, mask_zero=True)(a)
    return keras.Model(a, L.Dense(2)(L.GlobalAveragePooling1D()(L.MultiHeadAttention(2, 3)(x, x))))


@case(ROW, SERIES)
def two_in_two_out():
    a, b = keras.Input(ROW, name="row"), keras.Input(SERIES, name="series")
    both = L.Concatenate()([L.Dense(4)(a), L.LSTM(4)(b)])
    return keras.Model([a, b], [L.Dense(3, activation="softmax", name="kind")(both), L.Dense(1, name="size")(both)])


@case(IMAGE)
def residual():
    a = keras.Input(IMAGE)
    x = L.Conv2D(4, 3, padding="same", activation="relu")(a)
    x = L.Add()([x, a])
    return keras.Model(a, L.Dense(5, activation="softmax")(L.GlobalAveragePooling2D()(x)))


@case((7, 6))
def attention():
    a = keras.Input((7, 6))
    x = L.Dense(6)(a)
    return keras.Model(a, L.Dense(2)(L.Flatten()(L.MultiHeadAttention(2, 5)(x, x))))


@case((7, 6), (4, 3))
def attention_of_another():
    a, b = keras.Input((7, 6)), keras.Input((4, 3))
    return keras.Model([a, b], L.Dense(2)(L.Flatten()(L.MultiHeadAttention(3, 4, use_bias=False)(a, b))))


@case((7, 6))
def attention_causal():
    a = keras.Input((7, 6))
    x = L.LSTM(6, return_sequences=True)(a)
    return keras.Model(a, L.Dense(2)(L.MultiHeadAttention(2, 5)(x, x, use_causal_mask=True)))


@case((7, 6))
def attention_by_names():
    a = keras.Input((7, 6))
    x = L.LSTM(6, return_sequences=True)(a)
    return keras.Model(a, L.Dense(2)(L.MultiHeadAttention(2, 5)(query=x, value=x, key=x)))


@case((7,), tokens=11)
def transformer():
    a = keras.Input((7,))
    x = L.Embedding(11, 6)(a)
    y = L.MultiHeadAttention(2, 3)(x, x)
    x = L.LayerNormalization()(L.Add()([x, y]))
    y = L.Dense(6)(L.Dense(9, activation="gelu")(x))
    x = L.LayerNormalization()(L.Add()([x, y]))
    return keras.Model(a, L.Dense(3, activation="softmax")(L.GlobalAveragePooling1D()(x)))

// A shared object whose names are those of a plug-in, but of data
// (no-device.sh).

extern "C" {
int dl_cuda_abi = 0, dl_cuda_version = 0, dl_cuda_count = 0, dl_cuda_open = 0;
}

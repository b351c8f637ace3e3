// The array type of the library: an xtensor array that owns 64-byte aligned, row-major memory.
// This is the only file that includes xtensor.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>  // the layout since xtensor 0.26
#else
#include <xtensor/xarray.hpp>
#endif

namespace fcam {

/// Allocates on 64-byte boundaries and leaves new numbers uninitialised: who makes a buffer fills it.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* data, std::size_t) noexcept { ::operator delete(data, alignment); }

  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

/// A plain buffer of numbers; resizing within its capacity neither allocates nor touches memory.
template <class T>
using Buffer = std::vector<T, AlignedAllocator<T>>;

/// Shape of a tensor; ranks up to 8 need no allocation.
using TensorShape = xt::svector<std::size_t, 8>;

/// An owning row-major array. It keeps its capacity when it is resized.
template <class T>
using Tensor = xt::xarray_container<Buffer<T>, xt::layout_type::row_major, TensorShape>;

/// Sizes of an array from the outermost axis to the innermost.
using Shape = std::vector<std::size_t>;

/// Number of elements of an array of that shape; 1 for the empty shape.
std::size_t element_count(const Shape& shape);

/// "3x32x32"; "scalar" for the empty shape.
std::string to_string(const Shape& shape);

/// Version of xtensor that this was built with.
std::string xtensor_version();

/// Shape of a tensor as a plain vector.
template <class T>
Shape shape_of(const Tensor<T>& tensor) {
  return Shape(tensor.shape().begin(), tensor.shape().end());
}

}  // namespace fcam
